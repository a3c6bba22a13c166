/** Trajectories on disk, one line of JSON each. Needs Node. */
import { requireArguments, type Trajectory } from '@rlp/core';
import { AppendFile, readJsonLinesFile } from '@rlp/data/files';
import { expected, trajectoryOf, trajectoryToLine } from './records.ts';

/** What ends reading or writing. */
interface Waiting {
  /** Ends the call with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Appends trajectories to a file, one at a time, and returns how many. Creates the file if it is missing.
 *
 * Lines that were written before an error or an abort stay. A last line that a crash cut short is removed first.
 */
export async function appendTrajectories(
  path: string,
  trajectories: Iterable<Trajectory> | AsyncIterable<Trajectory>,
  options: Waiting = {},
): Promise<number> {
  requireArguments('appendTrajectories', { path: 'text', options: 'object?' }, path, options);
  const { signal } = options;
  const file = new AppendFile({ path });
  file.open();
  let count = 0;
  try {
    for await (const trajectory of trajectories) {
      signal?.throwIfAborted();
      file.append(`${trajectoryToLine(trajectory)}\n`);
      count += 1;
    }
    return count;
  } finally {
    file.close();
  }
}

/**
 * Reads a file of trajectories line by line, however large it is. Empty lines are skipped.
 *
 * @throws FormatError naming file, line and fields of the first malformed record.
 */
export async function* readTrajectories(
  path: string,
  options: Waiting = {},
): AsyncGenerator<Trajectory, void, undefined> {
  requireArguments('readTrajectories', { path: 'text', options: 'object?' }, path, options);
  const { signal } = options;
  for await (const { number, value } of readJsonLinesFile(path, { expected, signal })) {
    yield trajectoryOf(value, `${path}, line ${number}`);
  }
}
