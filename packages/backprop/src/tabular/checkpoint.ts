import { writeDirectory } from '@rlp/data/store';
import * as z from 'zod';
import { fs } from '../node-files.ts';
import { openCheckpoint, readRecord } from '../weights/checkpoint.ts';

const fileName = 'tabular.json';

const numbers = z.array(z.number());

const schema = z.strictObject({
  format: z.literal('rlp-tabular-1'),
  vocabularySize: z.int(),
  contextTokens: z.int(),
  logits: numbers,
  reference: numbers,
  moment1: numbers,
  moment2: numbers,
  updates: z.int(),
  weightVersion: z.int(),
  /** Present if the backend has a value head. */
  valueHead: z.strictObject({ values: numbers, moment1: numbers, moment2: numbers }).optional(),
});

/** Content of a tabular checkpoint. JSON keeps every float exactly. */
export type TabularCheckpoint = z.output<typeof schema>;

/** Writes a checkpoint to `directory`. At any time, the directory is either complete or absent. */
export async function writeCheckpoint(directory: string, checkpoint: TabularCheckpoint): Promise<void> {
  await writeDirectory(directory, (temporary) =>
    fs().writeFile(`${temporary}/${fileName}`, JSON.stringify(checkpoint)),
  );
}

/**
 * Reads a checkpoint of {@link writeCheckpoint}.
 *
 * @throws FormatError naming the file and the problem.
 */
export async function readCheckpoint(directory: string): Promise<TabularCheckpoint> {
  await openCheckpoint(directory);
  return readRecord(`${directory}/${fileName}`, schema);
}
