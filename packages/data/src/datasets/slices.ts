import type { Dataset } from './dataset.ts';

/** Rows from `start` to before `end`. */
export interface RowSlice {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** Percent of the rows, or rows. */
  readonly unit: 'rows' | 'percent';
}

const slicePattern = /^(.*?)@?\[\s*(-?\d+%?)?\s*:\s*(-?\d+%?)?\s*\]$/s;

/** A name and the slice after it, as in `train[0:500]`, `test[:10%]` or `train[-100:]`. */
export function splitSlice(name: string): { readonly name: string; readonly slice?: RowSlice } {
  const [, base, start, end] = slicePattern.exec(name) ?? [];
  if (base === undefined) return { name };
  const unit = start?.endsWith('%') || end?.endsWith('%') ? 'percent' : 'rows';
  const bound = (text: string | undefined) => (text === undefined ? undefined : Number.parseInt(text, 10));
  return { name: base, slice: { start: bound(start), end: bound(end), unit } };
}

/** The slice of a dataset. Percents are rounded to whole rows. */
export async function slicedRows<Row>(
  dataset: Dataset<Row>,
  { start, end, unit }: RowSlice,
): Promise<Dataset<Row>> {
  if (unit === 'rows') return dataset.slice(start, end);
  const rows = await dataset.count();
  const bound = (percent: number | undefined) =>
    percent === undefined ? undefined : Math.round((rows * percent) / 100);
  return dataset.slice(bound(start), bound(end));
}
