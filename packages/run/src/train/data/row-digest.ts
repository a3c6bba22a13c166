import { createHash } from 'node:crypto';
import { ArgumentError, plural } from '@rlp/core';
import { otherFolder } from '../../folder/open-folder.ts';
import type { RunRecord } from '../../folder/run-record.ts';
import type { RunRow } from './rows.ts';
import type { RunRows } from './split-rows.ts';

/** What `run.json` remembers of the rows, to notice that they changed. */
export type RowDigest = NonNullable<RunRecord['rows']>;

/** Rows to learn from of which the digest is made. All of a large file would take seconds. */
const sampled = 1000;

/** A digest of the rows of a run: all that are held out, and some of those that are learned from. */
export function digestRows({ imitated, practised, heldOut }: RunRows): RowDigest {
  return {
    learned: new Set([...imitated, ...practised]).size,
    heldOut: heldOut.length,
    learnedDigest: digestOf([...some(imitated), ...some(practised)]),
    heldOutDigest: digestOf(heldOut),
  };
}

/**
 * Compares the rows of a run with those that it began with.
 *
 * @returns What people should know of rows that changed. `undefined` if nothing did.
 * @throws ArgumentError if other rows are held out: the run may have learned from them.
 */
export function changeOfRows(
  directory: string,
  before: RowDigest | undefined,
  now: RowDigest,
): string | undefined {
  if (before === undefined) return undefined;
  if (before.heldOutDigest !== now.heldOutDigest) {
    throw new ArgumentError(
      `${directory}: the data has changed, so other rows would be held out than when this run began (${countsOf(before)} then, ` +
        `${countsOf(now)} now), and it may have learned from them. Restore the data, ${otherFolder}`,
    );
  }
  if (before.learned === now.learned && before.learnedDigest === now.learnedDigest) return undefined;
  return `The rows to learn from have changed since this run began (${before.learned} then, ${now.learned} now).`;
}

const countsOf = ({ learned, heldOut }: RowDigest) =>
  `${plural(learned, 'row')} to learn from and ${heldOut} held out`;

function some(rows: readonly RunRow[]): readonly RunRow[] {
  const every = Math.ceil(rows.length / sampled);
  return rows.filter((_, index) => index % every === 0);
}

/** A file may be moved, so its name does not count. */
function digestOf(rows: readonly RunRow[]): string {
  const hash = createHash('sha256');
  for (const row of rows) hash.update(`${jsonOf(row)}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** Metadata of a program may hold what JSON cannot. */
function jsonOf({ source: _, metadata, ...row }: RunRow): string {
  try {
    return JSON.stringify({ ...row, metadata });
  } catch {
    return JSON.stringify(row);
  }
}
