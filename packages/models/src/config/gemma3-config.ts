import * as z from 'zod';

import { attentionShape } from './attention-shape.ts';
import type { DecoderConfig, PositionEncoding } from './model-config.ts';
import { parseRope } from './rope-config.ts';
import { activation, commonShape, layerCount, only, size } from './schemas.ts';
import { configError, parseContent } from './validation.ts';

const positive = z.number().positive();

/** Defaults of transformers 4.57, `Gemma3TextConfig`. */
const schema = z.looseObject({
  ...commonShape,
  hidden_size: size.default(2304),
  intermediate_size: size.default(9216),
  num_hidden_layers: layerCount.default(26),
  num_attention_heads: size.default(8),
  num_key_value_heads: size.default(4),
  head_dim: size.default(256),
  max_position_embeddings: size.default(131_072),
  rms_norm_eps: positive.default(1e-6),
  hidden_activation: activation.default('gelu-tanh'),
  tie_word_embeddings: z.boolean().default(true),
  attention_bias: z.boolean().default(false),
  query_pre_attn_scalar: positive.default(256),
  sliding_window: size.default(4096),
  sliding_window_pattern: size.default(6),
  layer_types: z.array(z.enum(['sliding_attention', 'full_attention'])).nullish(),
  rope_local_base_freq: positive.default(10_000),
  use_bidirectional_attention: only(false),
  final_logit_softcapping: z.null('only null is supported').optional(),
  attn_logit_softcapping: z.null('only null is supported').optional(),
});

type Fields = z.output<typeof schema>;

/**
 * Parses the text config of Gemma 3.
 *
 * Norms come before and after each half, and add 1 to their weights. Embeddings are multiplied by √hiddenSize. Layers with a sliding
 * window rotate with their own base.
 */
export function parseGemma3(json: Readonly<Record<string, unknown>>, file: string): DecoderConfig {
  const fields = parseContent(schema, json, file);
  const bias = fields.attention_bias ? 'bias' : 'none';
  const kinds = layerKinds(fields, file);
  const { full, sliding } = rotations(json, fields, file);
  return {
    architecture: 'gemma3_text',
    ...attentionShape(fields, file),
    hiddenSize: fields.hidden_size,
    layers: fields.num_hidden_layers,
    intermediateSize: fields.intermediate_size,
    vocabularySize: fields.vocab_size,
    contextLength: fields.max_position_embeddings,
    position: full,
    layerPositions: kinds.map((kind) => (kind === 'full_attention' ? full : sliding)),
    embeddingScale: Math.sqrt(fields.hidden_size),
    attentionScale: 1 / Math.sqrt(fields.query_pre_attn_scalar),
    norm: { type: 'rms', epsilon: fields.rms_norm_eps, offset: 1 },
    feedForward: { type: 'gated', activation: fields.hidden_activation },
    biases: { queryKeyValue: bias, attentionOutput: bias, feedForward: 'none' },
    queryKeyNorm: 'per-head',
    outputHead: fields.tie_word_embeddings ? 'tied' : 'separate',
    slidingWindow: fields.sliding_window,
    layerWindows: kinds.map((kind) => (kind === 'full_attention' ? 'full' : 'sliding')),
    initializerRange: fields.initializer_range,
    bosId: fields.bos_token_id,
    eosIds: fields.eos_token_id ?? [],
    paddingId: fields.pad_token_id,
    source: json,
  };
}

function layerKinds(fields: Fields, file: string) {
  const { num_hidden_layers: layers, layer_types: given, sliding_window_pattern: pattern } = fields;
  if (given && given.length !== layers) {
    const problem = `expected ${layers} entries, one for each layer, got ${given.length}`;
    throw configError(file, 'layer_types', problem);
  }
  return (
    given ??
    Array.from({ length: layers }, (_, layer) =>
      (layer + 1) % pattern === 0 ? 'full_attention' : 'sliding_attention',
    )
  );
}

/** Rotary encodings of both kinds of layers, from fields of transformers 4 or 5. */
function rotations(
  json: Readonly<Record<string, unknown>>,
  fields: Fields,
  file: string,
): { readonly full: PositionEncoding; readonly sliding: PositionEncoding } {
  const { max_position_embeddings: context, rope_local_base_freq: local } = fields;
  const defaults = { context, original: context, theta: 1e6 };
  const kinds = json.rope_parameters as Readonly<Record<string, unknown>> | null | undefined;
  const byKind = (kind: string) => ({ ...json, rope_parameters: kinds?.[kind] });
  const isByKind = kinds?.full_attention !== undefined;
  return {
    full: parseRope(isByKind ? byKind('full_attention') : json, defaults, file),
    sliding: isByKind
      ? parseRope(byKind('sliding_attention'), { ...defaults, theta: local }, file)
      : { type: 'rotary', theta: local, scaling: { type: 'none' } },
  };
}
