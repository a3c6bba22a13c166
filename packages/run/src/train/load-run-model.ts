import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { countParameters } from '@rlp/backprop';
import { ArgumentError, FormatError } from '@rlp/core';
import {
  byteTokenizer,
  characterTokenizer,
  createModel,
  type LanguageModel,
  loadModel,
  type ModelConfig,
  modelFolder,
  parseModelConfig,
} from '@rlp/models';
import type { CreateModel } from '../config/model-schema.ts';
import type { ResolvedRunConfig } from '../config/run-schema.ts';
import { missingModel } from '../folder/missing-model.ts';
import { savedModel } from '../folder/run-files.ts';

/** Loads the model of a run, or makes it. @throws FormatError naming the folder and a remedy. */
export async function loadRunModel(
  { model, seed }: Pick<ResolvedRunConfig, 'model' | 'seed'>,
  signal?: AbortSignal | undefined,
): Promise<LanguageModel> {
  if (typeof model === 'string') return loadModel(savedModel(model) ?? model, { signal });
  return 'create' in model ? newModel(model.create, seed) : model;
}

/** Finds the model of a run, and fetches it from the hub if need be. @throws FormatError if it is a folder that does not exist. */
export async function requireModel(
  { model }: Pick<ResolvedRunConfig, 'model'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (typeof model !== 'string') return;
  const saved = savedModel(model);
  const problem = saved === undefined ? await missingModel(model) : undefined;
  if (problem !== undefined) throw new FormatError(`model: ${problem}`);
  const folder = await modelFolder(saved ?? model, { signal });
  if (existsSync(folder)) return;
  throw new FormatError(
    `model: ${model} does not exist; give the folder of a Hugging Face model or of a run, its name on the hub such as Qwen/Qwen3-0.6B, or { create: {} }`,
  );
}

/** @throws ArgumentError if the weights alone are more than the machine's memory. */
function requireMemory(config: ModelConfig): void {
  const bytes = Float32Array.BYTES_PER_ELEMENT * countParameters(config);
  if (bytes <= totalmem()) return;
  const gib = (value: number) => `${Math.ceil(value / 2 ** 30)} GiB`;
  throw new ArgumentError(
    `model.create: its weights would take ${gib(bytes)}, and this machine has ${gib(totalmem())} of memory; lower hiddenSize or layers`,
  );
}

const specials = { begin: '<s>', end: '</s>' };

function newModel(asked: CreateModel, seed: string): LanguageModel {
  const { tokenizer: kind, hiddenSize, layers, heads, contextLength, initializerRange } = asked;
  const tokenizer =
    kind === 'bytes'
      ? byteTokenizer(specials)
      : characterTokenizer(kind.characters, { ...specials, others: kind.others, unknown: kind.unknown });
  const config = parseModelConfig({
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    vocab_size: tokenizer.vocabularySize,
    hidden_size: hiddenSize,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    intermediate_size: asked.intermediateSize ?? 32 * Math.ceil((hiddenSize * 8) / 3 / 32),
    max_position_embeddings: contextLength,
    tie_word_embeddings: true,
    initializer_range: initializerRange,
  });
  requireMemory(config);
  return createModel({ config, tokenizer, seed: asked.seed ?? seed });
}
