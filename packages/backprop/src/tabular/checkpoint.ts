import { FormatError } from '@rlp/core';
import { z } from 'zod';

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
  const { mkdir, rename, rm, writeFile } = await import('node:fs/promises');
  const partial = `${directory}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await writeFile(`${partial}/${fileName}`, JSON.stringify(checkpoint));
  await rm(directory, { recursive: true, force: true });
  await rename(partial, directory);
}

/**
 * Reads what {@link writeCheckpoint} wrote.
 *
 * @throws FormatError naming the file and what is wrong with it.
 */
export async function readCheckpoint(directory: string): Promise<TabularCheckpoint> {
  const { readFile } = await import('node:fs/promises');
  const path = `${directory}/${fileName}`;
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FormatError(`${path}: expected a tabular checkpoint, as saveCheckpoint writes it: ${reason}`, {
      cause,
    });
  }
}
