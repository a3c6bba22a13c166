/** Trajectories on disk, one line of JSON each. Needs Node. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { Trajectory } from '@rlp/core';
import { trajectoryFromLine, trajectoryToLine } from './records.ts';

/**
 * Appends trajectories to a file, one at a time; the file is created where it is missing. Resolves with how many.
 * Whatever was written before an error or an abort stays there, in whole lines.
 */
export async function appendTrajectories(
  path: string,
  trajectories: Iterable<Trajectory> | AsyncIterable<Trajectory>,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<number> {
  const file = await open(path, 'a');
  let count = 0;
  try {
    for await (const trajectory of trajectories) {
      signal?.throwIfAborted();
      await file.appendFile(`${trajectoryToLine(trajectory)}\n`);
      count += 1;
    }
    return count;
  } finally {
    await file.close();
  }
}

/**
 * Reads a file of trajectories line by line, however large it is; empty lines are skipped.
 *
 * @throws `FormatError` naming file, line and fields of the first malformed record.
 */
export async function* readTrajectories(path: string): AsyncGenerator<Trajectory, void, undefined> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() !== '') yield trajectoryFromLine(line, `${path}, line ${number}`);
  }
}
