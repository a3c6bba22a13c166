import * as z from 'zod';

import type { DecoderConfig } from './model-config.ts';
import { activation, commonShape, layerCount, only, size } from './schemas.ts';
import { configError, parseContent } from './validation.ts';

const schema = z.looseObject({
  ...commonShape,
  n_embd: size,
  n_layer: layerCount,
  n_head: size,
  n_inner: size.nullish(),
  n_positions: size.default(1024),
  layer_norm_epsilon: z.number().positive().default(1e-5),
  activation_function: activation.default('gelu-tanh'),
  tie_word_embeddings: z.boolean().default(true),
  scale_attn_weights: only(true),
  scale_attn_by_inverse_layer_idx: only(false),
  add_cross_attention: only(false),
});

/** Parses a GPT-2 config. */
export function parseGpt2(json: Readonly<Record<string, unknown>>, file: string): DecoderConfig {
  const fields = parseContent(schema, json, file);
  if (fields.n_embd % fields.n_head !== 0) {
    throw configError(file, 'n_head', `${fields.n_head} does not divide the hidden size ${fields.n_embd}`);
  }
  return {
    architecture: 'gpt2',
    hiddenSize: fields.n_embd,
    layers: fields.n_layer,
    heads: fields.n_head,
    keyValueHeads: fields.n_head,
    headDimension: fields.n_embd / fields.n_head,
    intermediateSize: fields.n_inner ?? 4 * fields.n_embd,
    vocabularySize: fields.vocab_size,
    contextLength: fields.n_positions,
    position: { type: 'learned' },
    norm: { type: 'layer', epsilon: fields.layer_norm_epsilon },
    feedForward: { type: 'plain', activation: fields.activation_function },
    biases: { queryKeyValue: 'bias', attentionOutput: 'bias', feedForward: 'bias' },
    queryKeyNorm: 'none',
    outputHead: fields.tie_word_embeddings ? 'tied' : 'separate',
    slidingWindow: undefined,
    initializerRange: fields.initializer_range,
    bosId: fields.bos_token_id,
    eosIds: fields.eos_token_id ?? [],
    paddingId: fields.pad_token_id,
    source: json,
  };
}
