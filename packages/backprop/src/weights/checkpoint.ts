import { ArgumentError, FormatError, nodeBuiltin } from '@rlp/core';
import * as z from 'zod';

// No static imports: a tabular policy also runs in a page and writes checkpoints only on request.
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

/** Content of `state.json` in a checkpoint: all state except tensors. */
export type CheckpointState = z.output<typeof schema>;

/** File that identifies a checkpoint. */
export const stateFile = 'state.json';

/**
 * Writes a directory that is always complete or absent.
 *
 * Writes to a temporary directory beside `path` and renames it. Replaces an earlier save at the path. On
 * failure, the earlier save stays and the temporary directory is removed. If two calls write to one path at
 * once, the last to complete stays.
 *
 * @param marker - A file that every such directory holds.
 * @throws ArgumentError if anything else is at the path, because it would be lost.
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
    `${path}: expected nothing or an earlier save with ${marker}, found other files; choose another path`,
  );
}

/** Replaces the directory at `path`. `'taken'` means that another writer put a directory there in between. */
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

/** Ignores errors with this code. */
function unless(code: string): (cause: unknown) => void {
  return (cause) => {
    if (!hasCode(cause, code)) throw cause;
  };
}

/** Writes `state.json` into a checkpoint. */
export async function writeState(directory: string, state: CheckpointState): Promise<void> {
  await fs().writeFile(nodePath().join(directory, stateFile), `${JSON.stringify(state, null, 2)}\n`);
}

/** Reads `state.json`. Throws a FormatError with the file, the field and a remedy. */
export function readState(directory: string): Promise<CheckpointState> {
  return readRecord(nodePath().join(directory, stateFile), schema);
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
