import { needed, parseOptions, requireArguments, requireFields, type Weights } from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import * as z from 'zod';
import { modelConfigSchema } from '../config/config-schema.ts';
import type { Architecture, ModelConfig } from '../config/model-config.ts';
import { parameterSpecs } from '../decoder/parameters.ts';
import { fs, nodePath } from '../node-files.ts';
import type { FloatType } from '../safetensors/floats.ts';
import { type WriteSafetensorsOptions, writeSafetensors } from '../safetensors/write.ts';
import type { TextTokenizer } from '../tokenizer/text-tokenizer.ts';
import { checkWeightShapes } from './weight-shapes.ts';

/** Model that {@link saveModel} writes, such as a {@link LanguageModel}. */
export interface SavableModel {
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly tokenizer: TextTokenizer;
}

const savableSchema = z.object({
  config: modelConfigSchema,
  weights: z.custom<Weights>(
    (value) => value instanceof Map,
    'must be a Map of tensors by name; await what getWeights returns',
  ),
  tokenizer: needed.tokenizer,
} satisfies Record<keyof SavableModel, z.ZodType>);

type Described = Pick<SavableModel, 'config' | 'tokenizer'>;

/** Options of {@link saveModel}. */
export type SaveModelOptions = Pick<WriteSafetensorsOptions, 'dtype' | 'maxShardBytes' | 'signal'>;

const CLASSES: Readonly<Record<Architecture, string>> = {
  llama: 'LlamaForCausalLM',
  mistral: 'MistralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  qwen3_moe: 'Qwen3MoeForCausalLM',
  smollm3: 'SmolLM3ForCausalLM',
  olmo2: 'Olmo2ForCausalLM',
  phi3: 'Phi3ForCausalLM',
  gemma3_text: 'Gemma3ForCausalLM',
  gpt2: 'GPT2LMHeadModel',
};

const TORCH_NAMES: Readonly<Record<FloatType, string>> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' };

/**
 * Writes a model as a Hugging Face folder that transformers and vLLM load.
 *
 * The files are `config.json`, `generation_config.json`, `model.safetensors` (or shards), the tokenizer's files, and
 * `SHA256SUMS`. A tied matrix is stored once. Other fields of the loaded files are kept.
 *
 * The folder appears when it is complete, and replaces an earlier save as a whole. A failed or aborted save leaves the earlier
 * one unchanged. The exchange takes two renames. After a crash between them, whatever reads the folder next puts one of the two saves in
 * place: {@link loadModel}, `loadTokenizer`, `loadWeights` and `readLoraAdapter` do. Other programs find no folder until then.
 *
 * @throws ArgumentError if the weights are not those of the config, or the folder holds files that are not an earlier save.
 */
export async function saveModel(
  folder: string,
  model: SavableModel,
  options: SaveModelOptions = {},
): Promise<void> {
  requireArguments('saveModel', { folder: 'text', options: 'object?' }, folder, options);
  parseOptions('saveModel', savableSchema, model, 'SavableModel');
  checkWeightShapes('saveModel', parameterSpecs(model.config), model.weights);
  await writeDirectory(folder, (temporary) => writeModelFiles(temporary, model, options));
}

/**
 * Writes the files of {@link saveModel} one by one into an existing folder without such files.
 *
 * For savers that put more files beside them and complete the folder themselves.
 *
 * @throws ArgumentError if the weights are not those of the config.
 */
export async function writeModelFiles(
  folder: string,
  model: SavableModel,
  options: SaveModelOptions = {},
): Promise<void> {
  requireArguments('writeModelFiles', { folder: 'text', options: 'object?' }, folder, options);
  requireFields('writeModelFiles', { config: 'object', weights: 'object', tokenizer: 'object' }, model);
  checkWeightShapes('saveModel', parameterSpecs(model.config), model.weights);
  await writeSafetensors(nodePath().join(folder, 'model.safetensors'), model.weights, options);
  await writeDescriptionFiles(folder, model, options.dtype ?? 'F32');
}

/** Writes the files of a model but its weights. @param more - Further fields of `config.json`. */
export async function writeDescriptionFiles(
  folder: string,
  model: Described,
  dtype: FloatType,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const texts = descriptionTexts(model, dtype, more);
  for (const [name, text] of Object.entries(texts)) await fs().writeFile(nodePath().join(folder, name), text);
}

/** The files of a model but its weights, by name. @param more - Further fields of `config.json`. */
export function descriptionTexts(
  model: Described,
  dtype: FloatType,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, string>> {
  const { tokenizer, config, others = {} } = model.tokenizer.files;
  return {
    'tokenizer.json': json(tokenizer),
    'tokenizer_config.json': json(config),
    ...others,
    'generation_config.json': json(generationConfig(model)),
    'config.json': json({ ...modelConfigJson(model, dtype), ...more }),
  };
}

/** The source config with the fields that saving decides: class, weight type, begin and end tokens. */
function modelConfigJson({ config, tokenizer }: Described, dtype: FloatType): Record<string, unknown> {
  const ids = tokenIds(config, tokenizer);
  return {
    ...config.source,
    architectures: [CLASSES[config.architecture]],
    torch_dtype: TORCH_NAMES[dtype],
    ...(config.source.dtype !== undefined && { dtype: TORCH_NAMES[dtype] }),
    ...(config.source.tie_word_embeddings === undefined && {
      tie_word_embeddings: config.outputHead === 'tied',
    }),
    ...ids,
  };
}

function generationConfig({ config, tokenizer }: Described): Record<string, unknown> {
  const { generation } = config;
  const known = Object.keys(generation).length > 0 ? generation : { _from_model_config: true };
  return { ...known, ...tokenIds(config, tokenizer) };
}

function tokenIds(config: ModelConfig, tokenizer: TextTokenizer): Record<string, unknown> {
  const bos = config.bosId ?? tokenizer.bosId;
  const eos = config.eosIds.length > 0 ? config.eosIds : tokenizer.eosIds;
  const padding = config.paddingId;
  return {
    bos_token_id: bos ?? null,
    eos_token_id: eos.length > 1 ? eos : (eos[0] ?? null),
    ...(padding !== undefined && { pad_token_id: padding }),
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
