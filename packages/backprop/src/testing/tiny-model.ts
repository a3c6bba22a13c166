import type { Loss, TrainingSequence } from '@rlp/core';
import { characterTokenizer, createModel, type LanguageModel, parseModelConfig } from '@rlp/models';

/** Tokenizer of eight characters. */
export const tokenizer = characterTokenizer('abcdefgh');

/**
 * A decoder with random weights. `change` replaces fields of its `config.json`.
 *
 * It has one layer, because compiling graphs takes most of the tests' time.
 */
export function tinyModel(change: Readonly<Record<string, unknown>> = {}): LanguageModel {
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 1,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    max_position_embeddings: 32,
    rms_norm_eps: 1e-5,
    hidden_act: 'silu',
    tie_word_embeddings: true,
    initializer_range: 0.3,
    ...change,
  });
  return createModel({ config, tokenizer, seed: 'tiny' });
}

/** Fields for a GPT-2. */
export const gpt2 = {
  model_type: 'gpt2',
  n_embd: 16,
  n_layer: 1,
  n_head: 4,
  n_positions: 32,
  n_ctx: 32,
  activation_function: 'gelu_new',
  layer_norm_epsilon: 1e-5,
};

/** `−ln π(token)`. */
export const negativeLogLikelihood: Loss = {
  key: 'negative-log-likelihood',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

/** Two sequences of different lengths. */
export const sequences = [
  [1, 4, 2, 3, 5, 0, 1],
  [3, 3, 2],
].map(
  (tokens): TrainingSequence => ({
    tokens,
    mask: tokens.map((_, t) => Math.min(t, 1)),
    weights: tokens.map(() => 0.125),
    columns: {},
  }),
);
