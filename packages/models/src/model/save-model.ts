import { ArgumentError, type Weights } from '@rlp/core';
import type { Architecture, ModelConfig } from '../config/model-config.ts';
import { parameterSpecs } from '../decoder/parameters.ts';
import { fs, nodePath } from '../node-files.ts';
import type { FloatType } from '../safetensors/floats.ts';
import { planSafetensors, type WriteSafetensorsOptions, writeAtomically } from '../safetensors/write.ts';
import type { TextTokenizer } from '../tokenizer/text-tokenizer.ts';
import { checkWeightShapes } from './weight-shapes.ts';

/** Model that {@link saveModel} writes, such as a {@link LanguageModel}. */
export interface SavableModel {
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly tokenizer: TextTokenizer;
}

/** Options of {@link saveModel}. */
export type SaveModelOptions = Pick<WriteSafetensorsOptions, 'dtype' | 'maxShardBytes' | 'signal'>;

const CLASSES: Readonly<Record<Architecture, string>> = {
  llama: 'LlamaForCausalLM',
  mistral: 'MistralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  gpt2: 'GPT2LMHeadModel',
};

const TORCH_NAMES: Readonly<Record<FloatType, string>> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' };

/**
 * Writes a model as a Hugging Face folder that transformers and vLLM load.
 *
 * The files are `config.json`, `generation_config.json`, `model.safetensors` (or shards), and the tokenizer's files. A tied
 * matrix is stored once. Files appear when all are complete, so a failed or aborted save leaves an earlier one unchanged.
 * Weight files of the earlier save that are no longer used are removed. Other fields of the loaded files are kept.
 *
 * @throws ArgumentError if the weights are not those of the config, or the folder has files and is not a model's.
 */
export async function saveModel(
  folder: string,
  model: SavableModel,
  options: SaveModelOptions = {},
): Promise<void> {
  checkWeightShapes('saveModel', parameterSpecs(model.config), model.weights);
  await fs().mkdir(folder, { recursive: true });
  await requireOwnFolder(folder);
  const weights = planSafetensors(nodePath().join(folder, 'model.safetensors'), model.weights, options);
  const { tokenizer, config, others = {} } = model.tokenizer.files;
  const files = {
    'tokenizer.json': json(tokenizer),
    'tokenizer_config.json': json(config),
    ...others,
    'generation_config.json': json(generationConfig(model)),
    'config.json': json(modelConfigJson(model, options.dtype ?? 'F32')),
  };
  const texts = Object.entries(files).map(
    ([name, text]) =>
      [nodePath().join(folder, name), (temporary: string) => fs().writeFile(temporary, text)] as const,
  );
  await writeAtomically(new Map([...weights, ...texts]));
  await removeStale(folder, [...weights.keys()]);
}

/** A folder with files belongs to a model if it has a config or weights. Hidden and temporary files say nothing. */
async function requireOwnFolder(folder: string): Promise<void> {
  const names = (await fs().readdir(folder)).filter((name) => !/^\.|\.tmp$/.test(name));
  if (names.length === 0 || names.some((name) => name === 'config.json' || name.endsWith('.safetensors')))
    return;
  throw new ArgumentError(
    `saveModel: ${folder}: expected an empty folder or one with a model, found ${names.slice(0, 3).join(', ')}; give another folder`,
  );
}

/** The source config with the fields that saving decides: class, weight type, begin and end tokens. */
function modelConfigJson({ config, tokenizer }: SavableModel, dtype: FloatType): Record<string, unknown> {
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

function generationConfig({ config, tokenizer }: SavableModel): Record<string, unknown> {
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

async function removeStale(folder: string, written: readonly string[]): Promise<void> {
  const current = new Set(written.map((path) => nodePath().basename(path)));
  const ours = /^model(-\d{5}-of-\d{5})?\.safetensors(\.index\.json)?$/;
  for (const name of await fs().readdir(folder)) {
    if (ours.test(name) && !current.has(name)) await fs().rm(nodePath().join(folder, name));
  }
}
