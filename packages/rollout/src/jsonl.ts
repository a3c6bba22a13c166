/** Trajectories on disk, one line of JSON each. Needs Node. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
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

/** Lines between `\n` only, as JSONL has them: Node's `readline` also splits at U+2028 since version 24. */
async function* linesOf(path: string): AsyncGenerator<string, void, undefined> {
  let line: string[] = [];
  for await (const chunk of createReadStream(path, 'utf8')) {
    const [end, ...starts] = (chunk as string).split('\n');
    line.push(end!);
    for (const start of starts) {
      yield line.join('');
      line = [start];
    }
  }
  yield line.join('');
}

/**
 * Reads a file of trajectories line by line, however large it is; empty lines are skipped.
 *
 * @throws `FormatError` naming file, line and fields of the first malformed record.
 */
export async function* readTrajectories(path: string): AsyncGenerator<Trajectory, void, undefined> {
  let number = 0;
  for await (const line of linesOf(path)) {
    number += 1;
    if (line.trim() !== '') yield trajectoryFromLine(line, `${path}, line ${number}`);
  }
}
