import { FormatError } from '@rlp/core';
import { placeOf, type RunRow } from './rows.ts';

/** Whether rows are answers that somebody liked or disliked, and no pairs of answers: the first one decides. */
export function areRated([first]: readonly RunRow[]): boolean {
  const metadata: object = first?.metadata ?? {};
  return 'label' in metadata && !('chosen' in metadata || 'rejected' in metadata);
}

const ratings: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Requires an answer and a label. @throws FormatError naming the row without them. */
export function ratingOf(row: RunRow): boolean {
  const { label } = row.metadata as { readonly label?: unknown };
  const rating = ratings.get(String(label).toLowerCase());
  if (rating !== undefined && row.completion) return rating;
  throw new FormatError(
    `trainRun: ${placeOf(row)}: expected an answer and a label of true or false (1 or 0), ` +
      `got ${row.completion ? `the label ${JSON.stringify(label)}` : 'no answer'}; correct the row, or name the columns under data.fields`,
  );
}
