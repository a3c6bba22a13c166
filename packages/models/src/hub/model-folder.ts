import {
  ArgumentError,
  abortSignal,
  FormatError,
  isRecord,
  MissingPeerError,
  messageOf,
  NetworkError,
  parseOptions,
} from '@rlp/core';
import type { HubOptions, HubSnapshot } from '@rlp/data/datasets';
import { recoverDirectory } from '@rlp/data/store';
import * as z from 'zod';
import { readJsonObject } from '../config/validation.ts';
import { fs, nodePath } from '../node-files.ts';
import { type HubName, parseHubName } from './hub-name.ts';
import { chooseModelFiles, modelParts, shardsOfIndex, weightsIndex } from './model-files.ts';

/** Schema of {@link ModelFolderOptions}. */
export const modelFolderSchema = z.strictObject({
  /** Cache, token, revision and address of the Hugging Face hub. Default: what its environment variables say. */
  hub: z.custom<HubOptions>(isRecord, 'must be an object, such as { revision }').optional(),
  /** Ends a download with its reason. What was downloaded is kept. Default none. */
  signal: abortSignal.optional(),
  /** Files that are fetched. `'tokenizer'` leaves out the weights, `'config'` the tokenizer too. Default `'all'`. */
  part: z.enum(modelParts).default('all'),
});

/** How a model of the hub is fetched. */
export interface ModelFolderOptions extends z.input<typeof modelFolderSchema> {}

/**
 * Finds the folder of a model: a folder, or a model of the Hugging Face hub such as `Qwen/Qwen3-0.6B` or `Qwen/Qwen3-0.6B@main`.
 *
 * A folder of that name comes first. From the hub, only the files that rlp reads are fetched, into the cache that all of
 * Hugging Face's libraries share. That needs `@huggingface/hub`. `HF_HUB_OFFLINE=1` reads the cache alone.
 *
 * @throws ArgumentError if there is no such model, or the token may not read it.
 * @throws NetworkError if the hub cannot be reached, FormatError if the model lacks a file.
 * @throws MissingPeerError if `@huggingface/hub` is not installed.
 * @throws OptionsError naming every option that is unknown or unfit.
 */
export async function modelFolder(source: string, options: ModelFolderOptions = {}): Promise<string> {
  const settings = parseOptions('modelFolder', modelFolderSchema, options, 'ModelFolderOptions');
  if (typeof source !== 'string' || source === '') {
    const given = source === '' ? 'an empty text' : String(source);
    throw new ArgumentError(
      `loadModel: expected the folder of a Hugging Face model, or its name on the hub, got ${given}`,
    );
  }
  const name = parseHubName(source);
  if (name?.isExplicit) return fetched(name, settings);
  await recoverDirectory(source);
  const status = await fs()
    .stat(source)
    .catch(() => undefined);
  if (status?.isFile()) {
    throw new FormatError(`${source}: is a file; give the folder of a Hugging Face model`);
  }
  if (status !== undefined || name === undefined) return source;
  try {
    return await fetched(name, settings);
  } catch (error) {
    const kinds = [ArgumentError, FormatError, NetworkError, MissingPeerError];
    const Failure = kinds.find((kind) => error instanceof kind);
    if (Failure === undefined) throw error;
    throw new Failure(`no folder ${source} was found here, and ${messageOf(error)}`, { cause: error });
  }
}

/** The function of `@rlp/data/datasets`. The computed name keeps it and its files out of bundles for pages. */
async function hubSnapshot(...given: Parameters<typeof import('@rlp/data/datasets')['hubSnapshot']>) {
  const specifier = ['@rlp/data', 'datasets'].join('/');
  const datasets = (await import(/* @vite-ignore */ specifier)) as typeof import('@rlp/data/datasets');
  return datasets.hubSnapshot(...given);
}

async function fetched(
  { name, revision }: HubName,
  { hub = {}, signal, part }: z.output<typeof modelFolderSchema>,
): Promise<string> {
  const repository = { type: 'model', name } as const;
  const asked = revision === undefined ? hub : { ...hub, revision };
  const choose = (paths: readonly string[]) => chooseModelFiles(paths, part, name);
  const first = await hubSnapshot(repository, asked, { choose, signal });
  if (part === 'all' && first.paths.includes(weightsIndex)) {
    const shards = await namedShards(first);
    // The commit of the first call, because the branch may have moved.
    await hubSnapshot(
      repository,
      { ...asked, revision: first.commit },
      { signal, choose: (paths) => shardsOfIndex(shards, paths, name) },
    );
  }
  return first.directory;
}

async function namedShards({ directory }: HubSnapshot): Promise<readonly string[]> {
  const index = nodePath().join(directory, weightsIndex);
  const { weight_map: map } = (await readJsonObject(index)) ?? {};
  if (typeof map !== 'object' || map === null) {
    throw new FormatError(`${index}: weight_map: expected the file of each tensor; download it again`);
  }
  return [...new Set(Object.values(map).map(String))];
}
