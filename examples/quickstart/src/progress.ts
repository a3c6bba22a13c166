import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FormatError } from '@rlp/core';
import { z } from 'zod';

const evaluationSchema = z.strictObject({
  accuracy: z.number(),
  responses: z
    .array(z.strictObject({ prompt: z.string(), answer: z.string(), response: z.string() }))
    .readonly(),
});

const progressSchema = z.strictObject({
  seed: z.string(),
  /** Seconds spent so far, over all the processes of an interrupted run. */
  seconds: z.number(),
  parameters: z.number().optional(),
  before: evaluationSchema.optional(),
  afterSft: evaluationSchema.optional(),
});

/** What a run has found out so far: enough to finish it in another process. */
export type Progress = z.output<typeof progressSchema>;

/** Reads the progress of an earlier process. @throws FormatError for a file that is not one, or of another seed. */
export async function readProgress(path: string, seed: string): Promise<Progress> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return { seed, seconds: 0 };
  const parsed = progressSchema.safeParse(JSON.parse(text));
  if (parsed.success && parsed.data.seed === seed) return parsed.data;
  throw new FormatError(
    `${path}: expected the progress of a run with seed "${seed}"; start without --resume`,
  );
}

/** Writes a file so that it is there as a whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.partial`, text);
  await rename(`${path}.partial`, path);
}
