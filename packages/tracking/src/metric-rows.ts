import { FormatError, type Metrics, OptionsError, parseOptions } from '@rlp/core';
import * as z from 'zod';

/** The metrics of one iteration. */
export interface MetricRow {
  readonly step: number;
  readonly metrics: Metrics;
}

const nonFinite = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};

const rowSchema = z.strictObject({
  step: z.number(),
  metrics: z.record(
    z.string(),
    z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity']).transform((name) => nonFinite[name])]),
  ),
});

/** One row as a line of JSON; numbers that JSON does not know are written as their names. */
export function metricRowToLine({ step, metrics }: MetricRow): string {
  return JSON.stringify({ step, metrics }, (_, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}

/**
 * Reads what a `JsonlLogger` wrote, empty lines skipped. A step that occurs twice (a run that was resumed before it) keeps
 * its last row; rows come back in the order of their steps.
 *
 * @param source - Names the text in errors, such as its file.
 * @throws `FormatError` naming source and line of the first malformed row.
 */
export function metricRowsFromJsonl(text: string, source = 'metrics'): MetricRow[] {
  const rows = new Map<number, MetricRow>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const row = parseRow(line, `${source}, line ${index + 1}`);
    rows.set(row.step, row);
  }
  return [...rows.values()].sort((a, b) => a.step - b.step);
}

function parseRow(line: string, place: string): MetricRow {
  try {
    return parseOptions(place, rowSchema, JSON.parse(line));
  } catch (error) {
    const what = error instanceof OptionsError ? error.issues.join('; ') : (error as Error).message;
    throw new FormatError(`${place}: expected {"step", "metrics"} as JSON: ${what}`, { cause: error });
  }
}
