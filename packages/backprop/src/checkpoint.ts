import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FormatError } from '@rlp/core';
import { z } from 'zod';

const schema = z.strictObject({
  format: z.literal(1),
  weightVersion: z.int().nonnegative(),
  updates: z.int().nonnegative(),
  adaptation: z.enum(['full', 'lora']),
  reference: z.enum(['present', 'absent']),
  valueHead: z.enum(['present', 'absent']).default('absent'),
});

/** What `state.json` of a checkpoint holds: everything but tensors. */
export type CheckpointState = z.output<typeof schema>;

const stateFile = 'state.json';

/**
 * Writes a directory that is complete or absent: into a temporary one beside it, renamed when done. What stood at the path
 * before is replaced; when `write` fails it stays and the temporary directory is removed.
 */
export async function writeDirectory(
  directory: string,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const path = resolve(directory);
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomUUID()}.partial`;
  const replaced = `${path}.${randomUUID()}.replaced`;
  try {
    await mkdir(temporary);
    await write(temporary);
    const before = await stat(path).catch(() => undefined);
    if (before) await rename(path, replaced);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  await rm(replaced, { recursive: true, force: true });
}

/** Writes `state.json` into a checkpoint. */
export async function writeState(directory: string, state: CheckpointState): Promise<void> {
  await writeFile(join(directory, stateFile), `${JSON.stringify(state, null, 2)}\n`);
}

/** Reads `state.json`. Throws a FormatError naming the file, the field and a remedy. */
export async function readState(directory: string): Promise<CheckpointState> {
  const path = join(directory, stateFile);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new FormatError(`${path}: cannot be read; give the directory that saveCheckpoint wrote`, { cause });
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
    ({ path: at, message }) => `${at.join('.') || 'state'}: ${message}`,
  );
  throw new FormatError(`${path}: ${problems.join('; ')}; save the checkpoint again with this version`);
}
