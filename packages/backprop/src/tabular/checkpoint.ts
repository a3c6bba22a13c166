import { nodeBuiltin } from '@rlp/core';
import * as z from 'zod';
import { readRecord, writeDirectory } from '../weights/checkpoint.ts';

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
  /** Present where the backend has a value head. */
  valueHead: z.strictObject({ values: numbers, moment1: numbers, moment2: numbers }).optional(),
});

/** What a tabular checkpoint holds. JSON keeps every float exactly. */
export type TabularCheckpoint = z.output<typeof schema>;

/** Writes a checkpoint into `directory`, which is complete or absent at any time. */
export async function writeCheckpoint(directory: string, checkpoint: TabularCheckpoint): Promise<void> {
  await writeDirectory(directory, fileName, (temporary) =>
    nodeBuiltin<typeof import('node:fs/promises')>('node:fs/promises').writeFile(
      `${temporary}/${fileName}`,
      JSON.stringify(checkpoint),
    ),
  );
}

/**
 * Reads what {@link writeCheckpoint} wrote.
 *
 * @throws FormatError naming the file and what is wrong with it.
 */
export function readCheckpoint(directory: string): Promise<TabularCheckpoint> {
  return readRecord(`${directory}/${fileName}`, schema);
}
