import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArgumentError, type CheckpointBackend, FormatError, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { type RlState, rlStateSchema } from './loop/protocol.ts';
import { type SftState, sftStateSchema } from './loop/sft.ts';

const recordSchema = z.discriminatedUnion('kind', [
  z.strictObject({ format: z.literal('rlp-run-1'), kind: z.literal('rl'), state: rlStateSchema }),
  z.strictObject({ format: z.literal('rlp-run-1'), kind: z.literal('sft'), state: sftStateSchema }),
]);

const saveSchema = z.strictObject({ keep: z.int().min(1).default(2) });

/** State of a run and the loop it belongs to. */
export type RunPosition =
  | { readonly kind: 'rl'; readonly state: RlState }
  | { readonly kind: 'sft'; readonly state: SftState };

interface RunStates {
  readonly rl: RlState;
  readonly sft: SftState;
}

/** A critic that is saved and loaded with the run. */
interface CriticOption {
  readonly critic?: CheckpointBackend | undefined;
}

const checkpointName = /^checkpoint-(\d{8})$/;

/**
 * Saves where a run stands: the backend's checkpoint and the loop's state, in `directory/checkpoint-NNNNNNNN`.
 *
 * It writes a temporary directory and renames it, so a checkpoint is complete or absent at any time. Older checkpoints are
 * removed after that. Call it while you hold the report whose state this is. Use one directory per run, because `loadRun` takes
 * the latest checkpoint, even of another run.
 *
 * @param options - `keep` (2): checkpoints that stay, the new one included. `critic`: a separate critic, saved beside the
 *   backend; a shared one is in it.
 * @returns Path of the checkpoint.
 * @throws ArgumentError where the directory has a later checkpoint, OptionsError for a position that is none.
 */
export async function saveRun(
  directory: string,
  backend: CheckpointBackend,
  position: RunPosition,
  { critic, ...options }: CriticOption & { readonly keep?: number | undefined } = {},
): Promise<string> {
  const { keep } = parseOptions('saveRun', saveSchema, options);
  const record = parseOptions('saveRun', recordSchema, { format: 'rlp-run-1', ...position });
  const name = `checkpoint-${String(position.state.iteration).padStart(8, '0')}`;
  const path = join(directory, name);
  const partial = join(directory, `.${name}.partial`);
  const [newest = name] = await listCheckpoints(directory);
  if (newest > name) {
    throw new ArgumentError(
      `saveRun: ${directory} holds ${newest} of a run that went farther than iteration ${position.state.iteration}, ` +
        'and resuming would take that one; save to another directory, or delete what is there',
    );
  }
  try {
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true });
    await backend.saveCheckpoint(join(partial, 'backend'));
    if (isSeparate(critic, backend)) await critic.saveCheckpoint(join(partial, 'critic'));
    await writeFile(join(partial, 'run.json'), `${JSON.stringify(record, undefined, 2)}\n`);
    await rm(path, { recursive: true, force: true });
    await rename(partial, path);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  const older = (await listCheckpoints(directory)).filter((other) => other !== name).slice(keep - 1);
  for (const other of older) await rm(join(directory, other), { recursive: true, force: true });
  return path;
}

/**
 * Loads the newest checkpoint that {@link saveRun} wrote to `directory` into the backend.
 *
 * @returns The state to resume with; `undefined` where there is no checkpoint, and the backend is as it was.
 * @param options - `critic`: a separate critic that was saved with the run. It is loaded first.
 * @throws FormatError for a malformed file, ArgumentError for a checkpoint of the other loop; the backend is then as it was.
 */
export async function loadRun<Kind extends RunPosition['kind']>(
  directory: string,
  backend: CheckpointBackend,
  kind: Kind,
  { critic }: CriticOption = {},
): Promise<RunStates[Kind] | undefined> {
  const [newest] = await listCheckpoints(directory);
  if (newest === undefined) return undefined;
  const path = join(directory, newest);
  const record = await readRecord(join(path, 'run.json'));
  if (record.kind !== kind) {
    throw new ArgumentError(
      `loadRun: ${path} is a checkpoint of an ${record.kind} run, expected ${kind}; use another directory`,
    );
  }
  if (isSeparate(critic, backend)) await loadBackend(join(path, 'critic'), critic);
  await loadBackend(join(path, 'backend'), backend);
  return record.state as RunStates[Kind];
}

function isSeparate(
  critic: CheckpointBackend | undefined,
  backend: CheckpointBackend,
): critic is CheckpointBackend {
  return critic !== undefined && critic !== backend;
}

async function loadBackend(path: string, backend: CheckpointBackend): Promise<void> {
  try {
    await backend.loadCheckpoint(path);
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new FormatError(
      `${cause.message}; or delete ${dirname(path)} to fall back on the checkpoint before`,
      {
        cause,
      },
    );
  }
}

async function readRecord(path: string): Promise<z.output<typeof recordSchema>> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FormatError(
      `${path}: expected the record of a run, as saveRun writes it; delete its directory to fall back on the ` +
        `checkpoint before: ${reason}`,
      { cause },
    );
  }
}

/** Names of complete checkpoints, newest first. */
async function listCheckpoints(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => checkpointName.test(name)).sort((a, b) => b.localeCompare(a));
}
