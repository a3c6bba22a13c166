import * as z from 'zod';

import { attentionShape } from './attention-shape.ts';
import { parseExperts } from './experts-config.ts';
import type { DecoderConfig, ModelConfig, PositionEncoding } from './model-config.ts';
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
  readonly feedForwardBias: 'none' | 'asked';
  /**
   * Whether a sliding window counts, on all layers. With `'switched'` it counts when `use_sliding_window` is true, and
   * with `'switched-by-layer'` only some layers have it.
   */
  readonly slidingWindow: 'ignored' | 'given' | 'switched' | 'switched-by-layer';
}

type LlamaArchitecture = 'llama' | 'mistral' | 'qwen2' | 'qwen3' | 'qwen3_moe' | 'smollm3' | 'olmo2' | 'phi3';

/** Defaults of the configuration classes of transformers 4.57. */
const FAMILIES: Readonly<Record<LlamaArchitecture, Family>> = {
  llama: {
    defaults: { max_position_embeddings: 2048 },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'asked',
    outputBias: 'asked',
    feedForwardBias: 'asked',
    slidingWindow: 'ignored',
  },
  mistral: {
    defaults: { max_position_embeddings: 131_072, num_key_value_heads: 8, sliding_window: 4096 },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'none',
    outputBias: 'none',
    feedForwardBias: 'none',
    slidingWindow: 'given',
  },
  qwen2: {
    defaults: { max_position_embeddings: 32_768, num_key_value_heads: 32, sliding_window: 4096 },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'bias',
    outputBias: 'none',
    feedForwardBias: 'none',
    slidingWindow: 'switched-by-layer',
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
    feedForwardBias: 'none',
    slidingWindow: 'switched-by-layer',
  },
  qwen3_moe: {
    defaults: {
      max_position_embeddings: 32_768,
      num_key_value_heads: 4,
      sliding_window: 4096,
    },
    queryKeyNorm: 'per-head',
    queryKeyValueBias: 'asked',
    outputBias: 'asked',
    feedForwardBias: 'none',
    slidingWindow: 'switched',
  },
  smollm3: {
    defaults: {
      max_position_embeddings: 32_768,
      num_key_value_heads: 4,
      rope_theta: 2e6,
      no_rope_layer_interval: 4,
      tie_word_embeddings: true,
    },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'asked',
    outputBias: 'asked',
    feedForwardBias: 'asked',
    slidingWindow: 'switched-by-layer',
  },
  olmo2: {
    defaults: { max_position_embeddings: 2048, rms_norm_eps: 1e-5 },
    queryKeyNorm: 'whole',
    queryKeyValueBias: 'asked',
    outputBias: 'asked',
    feedForwardBias: 'none',
    slidingWindow: 'ignored',
  },
  phi3: {
    defaults: {
      max_position_embeddings: 4096,
      original_max_position_embeddings: 4096,
      rms_norm_eps: 1e-5,
    },
    queryKeyNorm: 'none',
    queryKeyValueBias: 'none',
    outputBias: 'none',
    feedForwardBias: 'none',
    slidingWindow: 'given',
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
  original_max_position_embeddings: size.nullish(),
  max_window_layers: z.int().nonnegative().default(28),
  layer_types: z.array(z.enum(['sliding_attention', 'full_attention'])).nullish(),
  no_rope_layer_interval: size.nullish(),
  no_rope_layers: z.array(z.union([z.literal(0), z.literal(1)], 'expected 0 or 1 for each layer')).nullish(),
});

type Fields = z.output<typeof schema>;

/** Parses the configs of Llama, Mistral, Qwen 2 and 3, Qwen3-MoE, SmolLM3, OLMo 2 and Phi 3, which differ in data only. */
export function parseLlamaFamily(json: Readonly<Record<string, unknown>>, file: string): DecoderConfig {
  const architecture = json.model_type as LlamaArchitecture;
  const family = FAMILIES[architecture];
  const given = { ...family.defaults, ...json };
  const fields = parseContent(schema, given, file);
  const asked = fields.attention_bias ? 'bias' : 'none';
  const shape = attentionShape(fields, file);
  const encodings = positions(given, { ...fields, ...shape }, file);
  return {
    architecture,
    ...shape,
    ...encodings,
    hiddenSize: fields.hidden_size,
    layers: fields.num_hidden_layers,
    intermediateSize: fields.intermediate_size,
    vocabularySize: fields.vocab_size,
    norm: { type: 'rms', epsilon: fields.rms_norm_eps },
    feedForward: { type: 'gated', activation: fields.hidden_act },
    experts: architecture === 'qwen3_moe' ? parseExperts(json, fields.num_hidden_layers, file) : undefined,
    biases: {
      queryKeyValue: family.queryKeyValueBias === 'asked' ? asked : family.queryKeyValueBias,
      attentionOutput: family.outputBias === 'asked' ? asked : 'none',
      feedForward: family.feedForwardBias === 'asked' && fields.mlp_bias ? 'bias' : 'none',
    },
    queryKeyNorm: family.queryKeyNorm,
    outputHead: fields.tie_word_embeddings ? 'tied' : 'separate',
    ...windows(family, { ...fields, ...encodings }, file),
    initializerRange: fields.initializer_range,
    bosId: fields.bos_token_id,
    eosIds: fields.eos_token_id ?? [],
    paddingId: fields.pad_token_id,
    source: json,
  };
}

/** Context and position encodings. Per-frequency scaling is exact up to the context of pretraining only. */
function positions(
  json: Readonly<Record<string, unknown>>,
  fields: Fields & { readonly headDimension: number },
  file: string,
): Pick<ModelConfig, 'contextLength' | 'position' | 'layerPositions'> {
  const { max_position_embeddings: context, headDimension } = fields;
  const original = fields.original_max_position_embeddings ?? context;
  const position = parseRope(json, { context, original, theta: 10_000 }, file);
  if (position.type !== 'rotary' || position.scaling.type !== 'longrope') {
    return { contextLength: context, position, layerPositions: layerPositions(position, fields, file) };
  }
  const { factors } = position.scaling;
  if (factors.length === headDimension / 2) return { contextLength: Math.min(context, original), position };
  const problem = `expected ${headDimension / 2} numbers, one for each frequency, got ${factors.length}`;
  throw configError(file, 'rope_scaling.short_factor', problem);
}

/** SmolLM3 leaves queries and keys of some layers unrotated. */
function layerPositions(
  position: PositionEncoding,
  { num_hidden_layers: layers, no_rope_layers: rotated, no_rope_layer_interval: interval }: Fields,
  file: string,
): readonly PositionEncoding[] | undefined {
  if (!rotated && !interval) return undefined;
  if (rotated && rotated.length !== layers) {
    const problem = `expected ${layers} numbers, one for each layer, got ${rotated.length}`;
    throw configError(file, 'no_rope_layers', problem);
  }
  const none: PositionEncoding = { type: 'none' };
  return Array.from({ length: layers }, (_, layer) => {
    const isRotated = rotated ? rotated[layer] === 1 : (layer + 1) % interval! !== 0;
    return isRotated ? position : none;
  });
}

/** Sliding window, and the layers that have it if not all do. */
function windows(
  family: Family,
  fields: Fields & Pick<ModelConfig, 'layerPositions'>,
  file: string,
): Pick<ModelConfig, 'slidingWindow' | 'layerWindows'> {
  const { sliding_window: slidingWindow, layer_types: types, num_hidden_layers: layers } = fields;
  const isSwitched = family.slidingWindow.startsWith('switched');
  const counts = family.slidingWindow === 'given' || (isSwitched && fields.use_sliding_window);
  if (!counts || !slidingWindow) return { slidingWindow: undefined };
  // Qwen3-MoE ignores `max_window_layers` and `layer_types`.
  if (family.slidingWindow !== 'switched-by-layer') return { slidingWindow };
  if (types && types.length !== layers) {
    const problem = `expected ${layers} entries, one for each layer, got ${types.length}`;
    throw configError(file, 'layer_types', problem);
  }
  const isSliding = (layer: number) => {
    if (types) return types[layer] === 'sliding_attention';
    // SmolLM3's unrotated layers have the window, and Qwen's last ones.
    const position = fields.layerPositions?.[layer];
    return position ? position.type === 'none' : layer >= fields.max_window_layers;
  };
  return {
    slidingWindow,
    layerWindows: Array.from({ length: layers }, (_, layer) => (isSliding(layer) ? 'sliding' : 'full')),
  };
}
