import { ArgumentError, plural } from '@rlp/core';
import { splitTasks } from '@rlp/env';
import type { RunRow } from './rows.ts';

/** Rows of a run by what they are for. No row is evaluated on and learned from. */
export interface RunRows {
  readonly imitated: readonly RunRow[];
  readonly practised: readonly RunRow[];
  readonly heldOut: readonly RunRow[];
  /** Number of rows that were left out because they repeat one that is held out. */
  readonly repeated?: number | undefined;
  /** Number of rows of `evaluation.data` that are learned from too. */
  readonly evaluatedAndLearned?: number | undefined;
}

/** How rows are dealt. */
export interface SplitOptions {
  /** Rows that are held out. `undefined` is a tenth of them, at most 100; 0 is none. */
  readonly heldOut: number | undefined;
  /** Rows that are only imitated. `undefined`: all are imitated and practised. */
  readonly imitated: number | undefined;
  readonly seed: string;
}

/** Deals the rows to the purposes, by streams named after their ids. @throws ArgumentError if one of them gets none. */
export function splitRows(rows: readonly RunRow[], { heldOut, imitated, seed }: SplitOptions): RunRows {
  const count = heldOut ?? Math.max(1, Math.min(100, Math.round(rows.length / 10)));
  if (count >= rows.length) {
    throw new ArgumentError(
      `trainRun: evaluation.heldOut is ${count} and the data has ${plural(rows.length, 'row')}, so none is left to learn from; ` +
        "give more rows, a smaller evaluation.heldOut, or evaluation: 'none'",
    );
  }
  const byId = new Map(rows.map((row) => [row.id, row]));
  const split =
    count === 0
      ? { train: rows, heldOut: [] }
      : splitTasks(rows as readonly Required<RunRow>[], { fraction: count / rows.length, seed });
  const rowsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => byId.get(id)!);
  const heldOutRows = rowsOf(split.heldOut);
  const { train, repeated } = withoutRepeats(rowsOf(split.train), heldOutRows);
  if (imitated !== undefined && imitated >= train.length) {
    throw new ArgumentError(
      `trainRun: sft.rows is ${imitated} and ${train.length} of ${plural(rows.length, 'row')} ${train.length === 1 ? 'is' : 'are'} neither held out nor repeat one that is, so none is left to practise on; lower it`,
    );
  }
  return {
    imitated: imitated === undefined ? train : train.slice(0, imitated),
    practised: imitated === undefined ? train : train.slice(imitated),
    ...{ heldOut: heldOutRows, repeated },
  };
}

/** Rows that are not in `heldOut` under another id. All of them if each is: then there is only one question. */
export function withoutRepeats(
  rows: readonly RunRow[],
  heldOut: readonly RunRow[],
): { readonly train: readonly RunRow[]; readonly repeated: number } {
  const known = new Set(heldOut.map(questionOf));
  const others = known.size === 0 ? rows : rows.filter((row) => !known.has(questionOf(row)));
  const train = others.length === 0 ? rows : others;
  return { train, repeated: rows.length - train.length };
}

/** Number of rows whose question and answer one of `others` has. */
export function countRepeats(rows: readonly RunRow[], others: readonly RunRow[]): number {
  if (rows.length === 0) return 0;
  const known = new Set(others.map(questionOf));
  return rows.filter((row) => known.has(questionOf(row))).length;
}

/** Text that rows with the same question and answer share. Other rows with the question may be about another input. */
function questionOf({ prompt, metadata }: RunRow): string {
  const { answer = metadata } = (metadata ?? {}) as { readonly answer?: unknown };
  try {
    return JSON.stringify([prompt, answer]);
  } catch {
    return JSON.stringify(prompt); // Metadata of a program may hold what JSON cannot.
  }
}
