import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArgumentError, FormatError } from '@rlp/core';
import * as z from 'zod';

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
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return { seed, seconds: 0 };
  const parsed = progressSchema.safeParse(parseJson(text));
  if (parsed.success && parsed.data.seed === seed) return parsed.data;
  throw new FormatError(
    `${path}: expected the progress of a run with seed "${seed}"; start without --resume`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Everything a run writes; `progress.json` comes first and goes last. */
const written = [
  'summary.json',
  'report.html',
  'metrics.jsonl',
  'metrics-sft.jsonl',
  'sft',
  'checkpoint',
  'checkpoints',
  'progress.json',
];

/**
 * Removes an earlier run from a directory, and nothing else.
 *
 * @throws ArgumentError for a directory that holds something, but no run of the quickstart.
 */
export async function clearRun(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0 && !names.includes('progress.json')) {
    throw new ArgumentError(
      `quickstart: ${directory} holds files that are not an earlier run's; choose an empty directory with --out`,
    );
  }
  for (const name of written) await rm(join(directory, name), { recursive: true, force: true });
}

/** Writes a file so that it is there as a whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const partial = `${path}.partial`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(partial, text);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}
