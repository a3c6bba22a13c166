import * as z from 'zod';

import type { Architecture, DecoderConfig, ModelConfig } from './model-config.ts';
import { parseRope } from './rope-config.ts';
import { activation, commonShape, layerCount, size } from './schemas.ts';
import { configError, parseContent } from './validation.ts';

/** Defaults that differ between the members of the Llama family. */
interface Family {
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly queryKeyNorm: ModelConfig['queryKeyNorm'];
  /** Biases of query, key and value, and of the attention's output; `'asked'` follows `attention_bias`. */
  readonly queryKeyValueBias: 'none' | 'bias' | 'asked';
  readonly outputBias: 'none' | 'asked';
  /** Whether a sliding window counts only when `use_sliding_window` is true. */
  readonly slidingWindow: 'ignored' | 'given' | 'switched';
}

/** Defaults of the configuration classes of transformers 4.57. */
const FAMILIES: Readonly<Record<Exclude<Architecture, 'gpt2'>, Family>> = {
  llama: {
    defaults: { max_position_embeddings: 2048 },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'asked',
    outputBias: 'asked',
    slidingWindow: 'ignored',
  },
  mistral: {
    defaults: { max_position_embeddings: 131_072, num_key_value_heads: 8, sliding_window: 4096 },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'none',
    outputBias: 'none',
    slidingWindow: 'given',
  },
  qwen2: {
    defaults: { max_position_embeddings: 32_768, num_key_value_heads: 32, sliding_window: 4096 },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'bias',
    outputBias: 'none',
    slidingWindow: 'switched',
  },
  qwen3: {
    defaults: {
      max_position_embeddings: 32_768,
      num_key_value_heads: 32,
      head_dim: 128,
      sliding_window: 4096,
    },
    queryKeyNorm: 'per-head',
    queryKeyValueBias: 'asked',
    outputBias: 'asked',
    slidingWindow: 'switched',
  },
};

const schema = z.looseObject({
  ...commonShape,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: layerCount,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  max_position_embeddings: size,
  rms_norm_eps: z.number().positive().default(1e-6),
  hidden_act: activation.default('silu'),
  tie_word_embeddings: z.boolean().default(false),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  sliding_window: size.nullish(),
  use_sliding_window: z.boolean().default(false),
});

type Fields = z.output<typeof schema>;

/** Parses the configs of Llama, Mistral, Qwen2 and Qwen3, which differ in data only. */
export function parseLlamaFamily(json: Readonly<Record<string, unknown>>, file: string): DecoderConfig {
  const architecture = json.model_type as Exclude<Architecture, 'gpt2'>;
  const family = FAMILIES[architecture];
  const fields = parseContent(schema, { ...family.defaults, ...json }, file);
  const asked = fields.attention_bias ? 'bias' : 'none';
  return {
    architecture,
    ...attentionShape(fields, file),
    hiddenSize: fields.hidden_size,
    layers: fields.num_hidden_layers,
    intermediateSize: fields.intermediate_size,
    vocabularySize: fields.vocab_size,
    contextLength: fields.max_position_embeddings,
    position: parseRope(json, fields.max_position_embeddings, 10_000, file),
    norm: { type: 'rms', epsilon: fields.rms_norm_eps },
    feedForward: { type: 'gated', activation: fields.hidden_act },
    biases: {
      queryKeyValue: family.queryKeyValueBias === 'asked' ? asked : family.queryKeyValueBias,
      attentionOutput: family.outputBias === 'asked' ? asked : 'none',
      feedForward: architecture === 'llama' && fields.mlp_bias ? 'bias' : 'none',
    },
    queryKeyNorm: family.queryKeyNorm,
    outputHead: fields.tie_word_embeddings ? 'tied' : 'separate',
    slidingWindow: slidingWindow(family, fields),
    initializerRange: fields.initializer_range,
    bosId: fields.bos_token_id,
    eosIds: fields.eos_token_id ?? [],
    paddingId: fields.pad_token_id,
    source: json,
  };
}

function slidingWindow(family: Family, fields: Fields): number | undefined {
  const counts =
    family.slidingWindow === 'given' || (family.slidingWindow === 'switched' && fields.use_sliding_window);
  return counts ? (fields.sliding_window ?? undefined) : undefined;
}

function attentionShape(fields: Fields, file: string) {
  const { num_attention_heads: heads, hidden_size: hidden } = fields;
  const keyValueHeads = fields.num_key_value_heads ?? heads;
  if (heads % keyValueHeads !== 0) {
    const problem = `${keyValueHeads} does not divide the ${heads} attention heads`;
    throw configError(file, 'num_key_value_heads', problem);
  }
  const headDimension = fields.head_dim ?? hidden / heads;
  if (!Number.isInteger(headDimension)) {
    throw configError(file, 'num_attention_heads', `${heads} does not divide the hidden size ${hidden}`);
  }
  if (headDimension % 2 !== 0) {
    throw configError(file, 'head_dim', `rotary encoding needs an even number, got ${headDimension}`);
  }
  return { heads, keyValueHeads, headDimension };
}
