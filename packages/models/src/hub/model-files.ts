import { FormatError } from '@rlp/core';

/** What of a model can be fetched. */
export const modelParts = ['all', 'tokenizer', 'config'] as const;

/** What of a model is fetched. */
export type ModelPart = (typeof modelParts)[number];

/** File that names the shard of each tensor. */
export const weightsIndex = 'model.safetensors.index.json';

const configFiles = ['config.json', 'generation_config.json'];
const tokenizerFiles = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'chat_template.jinja',
];

/**
 * Files of a repository that rlp reads, without the shards that an index names.
 *
 * @throws FormatError if one is missing that there has to be.
 */
export function chooseModelFiles(paths: readonly string[], part: ModelPart, name: string): string[] {
  const has = (path: string) => paths.includes(path);
  const chosen = [...configFiles, ...(part === 'config' ? [] : tokenizerFiles)].filter(has);
  const required = part === 'config' ? ['config.json'] : part === 'tokenizer' ? ['tokenizer.json'] : both;
  for (const file of required) {
    if (!has(file)) throw new FormatError(`the model ${name} has no ${file}; ${remedyFor(paths)}`);
  }
  if (part !== 'all') return chosen;
  if (has('model.safetensors')) return [...chosen, 'model.safetensors'];
  if (has(weightsIndex)) return [...chosen, weightsIndex];
  throw new FormatError(
    `the model ${name} has no model.safetensors and no ${weightsIndex}; ${remedyFor(paths)}`,
  );
}

const both = ['config.json', 'tokenizer.json'];

/** Shards to fetch. @throws FormatError if the repository lacks one. */
export function shardsOfIndex(shards: readonly string[], paths: readonly string[], name: string): string[] {
  const missing = shards.find((shard) => !paths.includes(shard));
  if (missing === undefined) return [...shards];
  throw new FormatError(
    `the model ${name} has no ${missing}, which its index names; fetch it once without HF_HUB_OFFLINE, or choose another revision`,
  );
}

/** What to do with a repository of another kind. */
function remedyFor(paths: readonly string[]): string {
  if (paths.includes('adapter_config.json')) {
    return 'it is an adapter: load its base model, and read the adapter with readLoraAdapter';
  }
  if (paths.some((path) => path.endsWith('.gguf'))) {
    return 'it holds GGUF files: choose the repository with the safetensors that they were made from';
  }
  if (paths.some((path) => /\.(bin|pt|pth|h5|msgpack)$/.test(path))) {
    return 'pickled weights are not read, because they can run code: choose a repository or revision with safetensors';
  }
  return 'choose a language model with safetensors, or fetch it once without HF_HUB_OFFLINE';
}
