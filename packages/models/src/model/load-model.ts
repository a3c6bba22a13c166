import { abortSignal, FormatError, parseOptions, requireArguments } from '@rlp/core';
import { recoverDirectory, verifyDirectory } from '@rlp/data/store';
import { elementCount } from '@rlp/onnx';
import * as z from 'zod';
import type { ModelConfig } from '../config/model-config.ts';
import { parseModelConfig } from '../config/parse-config.ts';
import { modelFolder, modelFolderSchema } from '../hub/model-folder.ts';
import { nodePath } from '../node-files.ts';
import { fileTensors } from '../safetensors/file-tensors.ts';
import { openSafetensors, type ReadOptions, readTensors } from '../safetensors/read.ts';
import { loadTokenizer, loadTokenizerSchema } from '../tokenizer/load-tokenizer.ts';
import type { TextTokenizer } from '../tokenizer/text-tokenizer.ts';
import { locateParameters } from './checkpoint-names.ts';
import type { LanguageModel } from './language-model.ts';
import { folderTexts, jsonOf, type ModelTexts } from './model-texts.ts';

const schema = loadTokenizerSchema.extend({
  /** Stops a download, and the weights between two pieces of 64 MiB. The promise rejects with its reason. Default none. */
  signal: abortSignal.optional(),
  /**
   * Whether the weights are compared with the `SHA256SUMS` that {@link saveModel} writes. Folders without that file are not
   * checked, and the other files may be edited. `'skip'` saves reading a large model twice. Default `'verify'`.
   */
  checksums: z.enum(['verify', 'skip']).default('verify'),
});

/** Options of {@link loadModel}. */
export interface LoadModelOptions extends z.input<typeof schema> {}

const configSchema = modelFolderSchema.omit({ part: true });

/**
 * Loads a Hugging Face model from its folder, or by its name on the hub.
 *
 *     const model = await loadModel('Qwen/Qwen3-0.6B');
 *
 * {@link modelFolder} says where a model is looked for. It reads `config.json`, the weights, the tokenizer and, if present, `generation_config.json`. Weights are safetensors in
 * one file or shards. F32, F16 and BF16 become float32. Those of more than 64 MiB stay in their files, which are kept open, and are
 * read when they are asked for.
 *
 * @throws FormatError naming the file, the field and a remedy if anything is missing, malformed, damaged, unsupported or does
 *   not fit together.
 * @throws OptionsError naming every option that is unknown or unfit, before anything is read.
 */
export async function loadModel(source: string, options: LoadModelOptions = {}): Promise<LanguageModel> {
  const { hub, signal, clock, checksums } = parseOptions('loadModel', schema, options, 'LoadModelOptions');
  const folder = await modelFolder(source, { hub, signal });
  if (checksums === 'verify') await verifyDirectory(folder, { only: /\.safetensors$/ });
  const config = await loadModelConfig(folder);
  const { tokenizer, chat } = await loadTokenizer(folder, { clock });
  const complete = withRoles(tokenizer, config, folder);
  const weights = await loadWeights(folder, config, { signal });
  return { config, ...weights, tokenizer: complete, chat, folder: nodePath().resolve(folder) };
}

/** The tokenizer with the begin and end tokens of the config. @throws FormatError if it has other tokens than the model. */
export function withRoles(tokenizer: TextTokenizer, config: ModelConfig, origin: string): TextTokenizer {
  const roles = { ...tokenizer, bosId: config.bosId ?? tokenizer.bosId };
  const complete = config.eosIds.length > 0 ? { ...roles, eosIds: config.eosIds } : roles;
  checkVocabulary(config, complete, origin);
  return complete;
}

/** Whether {@link loadWeights} leaves so many numbers in their files. */
export function staysInFile(numbers: number): boolean {
  return numbers > 2 ** 24;
}

/**
 * Reads the weights of a config from a safetensors file, an index or a folder; see {@link loadModel}.
 *
 * @throws FormatError if the files are malformed or do not fit the config.
 */
export async function loadWeights(
  path: string,
  config: ModelConfig,
  options: ReadOptions = {},
): Promise<Pick<LanguageModel, 'weights' | 'files'>> {
  requireArguments(
    'loadWeights',
    { path: 'text', config: 'object', options: 'object?' },
    path,
    config,
    options,
  );
  await recoverDirectory(path);
  const checkpoint = await openSafetensors(path);
  const files = locateParameters(config, checkpoint.tensors, checkpoint.files[0] ?? path);
  const located = [...files.values()];
  const numbers = located.reduce((sum, { shape }) => sum + elementCount(shape), 0);
  const stored = staysInFile(numbers) ? fileTensors(located) : await readTensors(located, options);
  const weights = new Map([...files].map(([name, tensor]) => [name, stored.get(tensor.name)!] as const));
  return { weights, files };
}

/**
 * Reads `config.json` and `generation_config.json` of a folder, or of a model on the hub.
 *
 * @throws FormatError if `config.json` is missing, or either is malformed or unsupported.
 * @throws OptionsError naming every option that is unknown or unfit.
 */
export async function loadModelConfig(
  source: string,
  options: z.input<typeof configSchema> = {},
): Promise<ModelConfig> {
  const settings = parseOptions('loadModelConfig', configSchema, options);
  return readModelConfig(folderTexts(await modelFolder(source, { ...settings, part: 'config' })));
}

/** Reads a config from texts; see {@link loadModelConfig}. */
export async function readModelConfig(texts: ModelTexts): Promise<ModelConfig> {
  const file = texts.pathOf('config.json');
  const json = await jsonOf(texts, 'config.json');
  if (!json) throw new FormatError(`${file}: no such file; give the folder of a Hugging Face model`);
  return parseModelConfig(json, file, (await jsonOf(texts, 'generation_config.json')) ?? {});
}

/**
 * Checks that every token has an embedding. A model may have more embeddings than its tokenizer has tokens, as padded
 * vocabularies do.
 *
 * @throws FormatError naming both sizes.
 */
export function checkVocabulary(
  config: ModelConfig,
  tokenizer: Pick<TextTokenizer, 'vocabularySize' | 'bosId' | 'eosIds'>,
  origin: string,
): void {
  if (tokenizer.vocabularySize > config.vocabularySize) {
    const problem = `the tokenizer has ${tokenizer.vocabularySize} tokens, config.json a vocab_size of ${config.vocabularySize}`;
    throw new FormatError(`${origin}: ${problem}; use the tokenizer that belongs to the model`);
  }
  for (const id of [tokenizer.bosId, ...tokenizer.eosIds]) {
    if (id === undefined || id < config.vocabularySize) continue;
    const problem = `token ${id} begins or ends sequences but vocab_size is ${config.vocabularySize}`;
    throw new FormatError(`${origin}: ${problem}; correct bos_token_id and eos_token_id`);
  }
}
