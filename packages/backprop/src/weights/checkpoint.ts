import { ArgumentError, FormatError, nodeBuiltin } from '@rlp/core';
import * as z from 'zod';

// Not imports: a tabular policy also runs in a page, and writes checkpoints only if asked to.
const fs = () => nodeBuiltin<typeof import('node:fs/promises')>('node:fs/promises');
const nodePath = () => nodeBuiltin<typeof import('node:path')>('node:path');

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

/** The file by which a checkpoint is known. */
export const stateFile = 'state.json';

/**
 * Writes a directory that is complete or absent: into a temporary one beside it, renamed when done. What was written to the
 * path before is replaced; when something fails it stays and the temporary directory is removed. Of two that write to one path
 * at once, the last to be complete stays.
 *
 * @param marker - A file that everything written so holds.
 * @throws ArgumentError if something else stands at the path, which would be lost.
 */
export async function writeDirectory(
  directory: string,
  marker: string,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const path = nodePath().resolve(directory);
  await requireReplaceable(path, marker);
  await fs().mkdir(nodePath().dirname(path), { recursive: true });
  const temporary = `${path}.${crypto.randomUUID()}.partial`;
  try {
    await fs().mkdir(temporary);
    await write(temporary);
    while ((await putInPlace(temporary, path)) === 'taken');
  } finally {
    await fs().rm(temporary, { recursive: true, force: true });
  }
}

async function requireReplaceable(path: string, marker: string): Promise<void> {
  const names = await fs()
    .readdir(path)
    .catch((cause: unknown) => {
      if (hasCode(cause, 'ENOENT')) return [];
      if (hasCode(cause, 'ENOTDIR')) return [path];
      throw cause;
    });
  if (names.length === 0 || names.includes(marker)) return;
  throw new ArgumentError(
    `${path}: what is there would be deleted, and it is no earlier save (those hold ${marker}); give a path where nothing is`,
  );
}

/** Exchanges what stands at `path`. `'taken'`: somebody else put a directory there meanwhile. */
async function putInPlace(temporary: string, path: string): Promise<'done' | 'taken'> {
  const before = `${path}.${crypto.randomUUID()}.replaced`;
  await fs().rename(path, before).catch(unless('ENOENT'));
  try {
    await fs().rename(temporary, path);
    return 'done';
  } catch (cause) {
    if (hasCode(cause, 'ENOTEMPTY', 'EEXIST')) return 'taken';
    await fs().rename(before, path).catch(unless('ENOENT'));
    throw cause;
  } finally {
    await fs().rm(before, { recursive: true, force: true });
  }
}

function hasCode(cause: unknown, ...codes: readonly string[]): boolean {
  return cause instanceof Error && 'code' in cause && codes.includes(String(cause.code));
}

/** Takes an error of this code for success. */
function unless(code: string): (cause: unknown) => void {
  return (cause) => {
    if (!hasCode(cause, code)) throw cause;
  };
}

/** Writes `state.json` into a checkpoint. */
export async function writeState(directory: string, state: CheckpointState): Promise<void> {
  await fs().writeFile(nodePath().join(directory, stateFile), `${JSON.stringify(state, null, 2)}\n`);
}

/** Reads `state.json`. Throws a FormatError naming the file, the field and a remedy. */
export function readState(directory: string): Promise<CheckpointState> {
  return readRecord(nodePath().join(directory, stateFile), schema);
}

/** Reads a JSON file of a checkpoint. Throws a FormatError naming the file, the field and a remedy. */
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
