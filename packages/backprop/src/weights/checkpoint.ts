import { FormatError } from '@rlp/core';
import { recoverDirectory, verifyDirectory } from '@rlp/data/store';
import * as z from 'zod';
import { fs, join } from '../node-files.ts';

const schema = z.strictObject({
  format: z.literal(1),
  weightVersion: z.int().nonnegative(),
  updates: z.int().nonnegative(),
  adaptation: z.enum(['full', 'lora']),
  reference: z.enum(['present', 'absent']),
  valueHead: z.enum(['present', 'absent']).default('absent'),
  optimizer: z.string().default('adamw'),
  lossScale: z.strictObject({ factor: z.number().min(1), finite: z.int().nonnegative() }).optional(),
});

/** Content of `state.json` in a checkpoint: all state except tensors. */
export type CheckpointState = z.output<typeof schema>;

/** File of a checkpoint with its numbers. A directory without it is not a training checkpoint. */
export const stateFile = 'state.json';

/** Writes `state.json` into a checkpoint. */
export async function writeState(directory: string, state: CheckpointState): Promise<void> {
  await fs().writeFile(join(directory, stateFile), `${JSON.stringify(state, null, 2)}\n`);
}

/**
 * Completes what a crash left of a checkpoint, and compares its files with their checksums.
 *
 * @throws FormatError naming a file that is damaged.
 */
export async function openCheckpoint(directory: string): Promise<void> {
  await recoverDirectory(directory);
  await verifyDirectory(directory);
}

/** Reads `state.json`. Throws a FormatError with the file, the field and a remedy. */
export function readState(directory: string): Promise<CheckpointState> {
  return readRecord(join(directory, stateFile), schema);
}

/** Reads a JSON file of a checkpoint. Throws a FormatError with the file, the field and a remedy. */
export async function readRecord<Output>(path: string, schema: z.ZodType<Output>): Promise<Output> {
  const text = await fs()
    .readFile(path, 'utf8')
    .catch((cause: unknown) => {
      throw new FormatError(`${path}: cannot be read; give the directory that saveCheckpoint wrote`, {
        cause,
      });
    });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new FormatError(`${path}: not valid JSON; save the checkpoint again`, { cause });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    ({ path: at, message }) => `${at.join('.') || 'file'}: ${message}`,
  );
  throw new FormatError(`${path}: ${problems.join('; ')}; save the checkpoint again with this version`);
}
