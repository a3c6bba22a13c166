import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ArgumentError,
  type CheckpointBackend,
  FormatError,
  having,
  messageOf,
  parseOptions,
  requireArguments,
  requireFields,
} from '@rlp/core';
import {
  continueNumbered,
  newestNumbered,
  releaseDirectory,
  saveNumbered,
  verifyDirectory,
} from '@rlp/data/store';
import * as z from 'zod';
import { type RlState, rlStateSchema } from './loop/protocol.ts';
import { type SftState, sftStateSchema } from './supervised/sft.ts';

const recordSchema = z.discriminatedUnion('kind', [
  z.strictObject({ format: z.literal('rlp-run-1'), kind: z.literal('rl'), state: rlStateSchema }),
  z.strictObject({
    format: z.literal('rlp-run-1'),
    kind: z.enum(['sft', 'preference', 'reward-model']),
    state: sftStateSchema,
  }),
]);

const stores = 'a backend with checkpoints; createOnnxBackend of @rlp/backprop makes one';
const savedSchema = z.object({
  directory: z.string().min(1),
  backend: having<CheckpointBackend>('saveCheckpoint', stores),
});
const loadedSchema = z.object({
  directory: z.string().min(1),
  backend: having<CheckpointBackend>('loadCheckpoint', stores),
  kind: z.enum(['rl', 'sft', 'preference', 'reward-model']),
});

/** State of a run and the loop it belongs to. */
export type RunPosition =
  | { readonly kind: 'rl'; readonly state: RlState }
  | { readonly kind: 'sft' | 'preference' | 'reward-model'; readonly state: SftState };

const runNames: Readonly<Record<RunPosition['kind'], string>> = {
  rl: 'an rl run',
  sft: 'an sft run',
  preference: 'a preference run',
  'reward-model': 'a reward-model run',
};

interface RunStates {
  readonly rl: RlState;
  readonly sft: SftState;
  readonly preference: SftState;
  readonly 'reward-model': SftState;
}

/** A critic that is saved and loaded with the run. */
interface CriticOption {
  /** A separate critic, saved and loaded beside the backend. A shared one is part of the backend. Default none. */
  readonly critic?: CheckpointBackend | undefined;
}

/** Options of {@link saveRun}. */
export interface SaveRunOptions extends CriticOption {
  /** Number of checkpoints that stay, including the new one. Default 2. */
  readonly keep?: number | undefined;
}

/** Options of {@link loadRun}. */
export interface LoadRunOptions extends CriticOption {
  /**
   * `'continue'` takes the directory for this process, so that another one is refused. `'read'` takes nothing, as an evaluation
   * beside a run needs. Default `'continue'`.
   */
  readonly access?: 'continue' | 'read' | undefined;
}

/**
 * Saves a run: the backend's checkpoint and the loop's state, in `directory/checkpoint-NNNNNNNN`.
 *
 * A checkpoint is complete or absent at any time. Its files are flushed to disk and have checksums, and `latest` names the
 * newest. Older checkpoints are removed after that. If an equal checkpoint exists, nothing changes. Call it while you hold the
 * report whose state this is. Use one directory per run, because `loadRun` takes the latest checkpoint.
 *
 * The process holds the directory until it ends or calls {@link closeRun}. Another process that saves there is refused.
 *
 * @returns Path of the checkpoint.
 * @throws DirectoryInUseError of `@rlp/data/store` if another process writes to the directory.
 * @throws ArgumentError if the directory has a later checkpoint, or those of a run that this process did not load.
 * @throws OptionsError for arguments that are missing, or a position that is not one.
 */
export async function saveRun(
  directory: string,
  backend: CheckpointBackend,
  position: RunPosition,
  options: SaveRunOptions = {},
): Promise<string> {
  const { critic, ...saving } = requireFields('saveRun', {}, options);
  parseOptions('saveRun', savedSchema, { directory, backend });
  const record = parseOptions('saveRun', recordSchema, { format: 'rlp-run-1', ...position });
  return saveNumbered(directory, { number: position.state.iteration, ...saving }, async (temporary) => {
    await backend.saveCheckpoint(join(temporary, 'backend'));
    if (isSeparate(critic, backend)) await critic.saveCheckpoint(join(temporary, 'critic'));
    await writeFile(join(temporary, 'run.json'), `${JSON.stringify(record, undefined, 2)}\n`);
  });
}

/**
 * Loads the newest checkpoint that {@link saveRun} wrote to `directory` into the backend.
 *
 * It completes or removes what a crash left in the directory, and compares the files with their checksums.
 *
 * @returns The state to resume with; `undefined` if no checkpoint was found. The backend is then unchanged.
 * @throws FormatError for a malformed or damaged file, ArgumentError for a checkpoint of the other loop; the backend is then as
 *   it was.
 * @throws DirectoryInUseError of `@rlp/data/store` if another process writes to the directory.
 */
export async function loadRun<Kind extends RunPosition['kind']>(
  directory: string,
  backend: CheckpointBackend,
  kind: Kind,
  options: LoadRunOptions = {},
): Promise<RunStates[Kind] | undefined> {
  const { critic, access = 'continue' } = requireFields('loadRun', {}, options);
  parseOptions('loadRun', loadedSchema, { directory, backend, kind });
  const path = await (access === 'read' ? newestNumbered : continueNumbered)(directory);
  if (path === undefined) return undefined;
  await orFallBack(path, () => verifyDirectory(path, { inside: 'skip' }));
  const record = await readRecord(join(path, 'run.json'));
  if (record.kind !== kind) {
    throw new ArgumentError(
      `loadRun: ${path} is a checkpoint of ${runNames[record.kind]}, expected ${kind}; use another directory`,
    );
  }
  if (isSeparate(critic, backend)) {
    await orFallBack(path, () => critic.loadCheckpoint(join(path, 'critic')));
  }
  await orFallBack(path, () => backend.loadCheckpoint(join(path, 'backend')));
  return record.state as RunStates[Kind];
}

/** Gives the directory of a run back before the process ends, so that another process can continue the run. */
export function closeRun(directory: string): Promise<void> {
  requireArguments('closeRun', { directory: 'text' }, directory);
  return releaseDirectory(directory);
}

function isSeparate(
  critic: CheckpointBackend | undefined,
  backend: CheckpointBackend,
): critic is CheckpointBackend {
  return critic !== undefined && critic !== backend;
}

/** Adds to the error of a damaged file which directory to delete. */
async function orFallBack(path: string, load: () => PromiseLike<void>): Promise<void> {
  try {
    await load();
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new FormatError(`${cause.message}; or delete ${path} to fall back on the checkpoint before`, {
      cause,
    });
  }
}

async function readRecord(path: string): Promise<z.output<typeof recordSchema>> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new FormatError(
      `${path}: expected the record of a run, as saveRun writes it; delete its directory to fall back on the ` +
        `checkpoint before: ${messageOf(cause)}`,
      { cause },
    );
  }
}
