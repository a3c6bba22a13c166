import * as z from 'zod';

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

// Loaded when needed: the rest of a tabular policy runs without a file system.

/** Writes a checkpoint into `directory`, which is complete or absent at any time. */
export async function writeCheckpoint(directory: string, checkpoint: TabularCheckpoint): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  const { writeDirectory } = await import('../weights/checkpoint.ts');
  await writeDirectory(directory, fileName, (temporary) =>
    writeFile(`${temporary}/${fileName}`, JSON.stringify(checkpoint)),
  );
}

/**
 * Reads what {@link writeCheckpoint} wrote.
 *
 * @throws FormatError naming the file and what is wrong with it.
 */
export async function readCheckpoint(directory: string): Promise<TabularCheckpoint> {
  const { readRecord } = await import('../weights/checkpoint.ts');
  return readRecord(`${directory}/${fileName}`, schema);
}
