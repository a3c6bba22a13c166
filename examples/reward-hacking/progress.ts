import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RlState } from '@rlp/algorithms';
import { loadRun, saveRun } from '@rlp/algorithms/run';
import { ArgumentError, FormatError, findingSchema, type TrainingBackend } from '@rlp/core';
import * as z from 'zod';
import type { StoryOptions } from './options.ts';

const recordSchema = z.strictObject({
  /** Held-out accuracy before the first iteration, then after each. Shape: `[iterations + 1]`. */
  heldOut: z.array(z.number()),
  /** Keywords in a sampled response, on average. Shape: `[iterations]`. */
  keywords: z.array(z.number()),
  /** Suspicions of reward hacking. */
  alarms: z.array(findingSchema),
  /** What the loop did for the monitor. */
  notes: z.array(z.string()),
});

/** What became of an arm. */
export type ArmRecord = z.output<typeof recordSchema>;

const toldSchema = z.strictObject({
  seed: z.string(),
  iterations: z.int(),
  quick: z.boolean(),
  arms: z.partialRecord(z.enum(['honest', 'watched', 'saved']), recordSchema),
});

/** What a run has told so far. */
export type Told = z.output<typeof toldSchema>;

const armSchema = z.strictObject({
  record: recordSchema,
  /** Iterations after which weights were saved that can be gone back to. */
  checkpoints: z.array(z.int()),
  /** Of the last iteration, while they are not logged yet. */
  metrics: z.record(z.string(), z.number()).optional(),
});

/** What an arm that was interrupted needs to go on, besides the loop's state. */
export type ArmProgress = z.output<typeof armSchema>;

/**
 * The arms that an earlier process told; none for a run that begins anew, whose directory is cleared of the earlier one.
 *
 * @throws FormatError for a file that is not one, ArgumentError for one of other options.
 */
export async function readTold(out: string, { resume, ...options }: StoryOptions): Promise<Told> {
  const { seed, iterations, quick } = options;
  const nothing = { seed, iterations, quick, arms: {} };
  if (!resume) {
    for (const name of written) await rm(join(out, name), { recursive: true, force: true });
    return nothing;
  }
  const told = await readWhole(join(out, 'told.json'), toldSchema);
  if (told === undefined) return nothing;
  if (told.seed === seed && told.iterations === iterations && told.quick === quick) return told;
  throw new ArgumentError(
    `reward-hacking: ${out} holds a run with --seed ${told.seed} --iterations ${told.iterations}` +
      `${told.quick ? ' --quick' : ''}; resume it with these, or start without --resume`,
  );
}

/** Everything that a run writes. */
const written = [
  'told.json',
  'summary.json',
  'report.html',
  'imitation',
  ...toldSchema.shape.arms.keyType.options,
];

/** Saves where an arm stands. */
export async function saveArm(
  directory: string,
  backend: TrainingBackend,
  state: RlState,
  progress: ArmProgress,
): Promise<void> {
  await saveRun(join(directory, 'run'), backend, { kind: 'rl', state });
  await writeWhole(join(directory, 'progress.json'), JSON.stringify(progress));
}

/** Where {@link saveArm} left an arm; the backend then holds its weights. `undefined` where it did not. */
export async function loadArm(
  directory: string,
  backend: TrainingBackend,
): Promise<(ArmProgress & { readonly state: RlState }) | undefined> {
  const progress = await readWhole(join(directory, 'progress.json'), armSchema);
  if (progress === undefined) return undefined;
  const state = await loadRun(join(directory, 'run'), backend, 'rl');
  return state && { ...progress, state };
}

/** @throws FormatError for a file that is something else; `undefined` where there is none. */
async function readWhole<Output>(path: string, schema: z.ZodType<Output>): Promise<Output | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new FormatError(`${path}: expected what an earlier run wrote; start without --resume`, { cause });
  }
}

/** Writes a file so that it is there as a whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.partial`, text);
  await rename(`${path}.partial`, path);
}
