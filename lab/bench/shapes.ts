import { RandomStream, type TrainingSequence } from '@rlp/core';
import { characterTokenizer, createModel, type LanguageModel, parseModelConfig } from '@rlp/models';

/** A decoder and the work that is measured on it. The PyTorch peer reads the same object as JSON. */
export interface BenchShape {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly inner: number;
  readonly vocabulary: number;
  /** Batch of the training step: sequences and predicted tokens of each. */
  readonly rows: number;
  readonly length: number;
  /** Work of generation. */
  readonly prompts: number;
  readonly promptLength: number;
  readonly newTokens: number;
}

const generation = { prompts: 16, promptLength: 32, newTokens: 96 };

/** S: a quickstart model, 3.3 M parameters; M: stories15M; L: SmolLM2-135M. */
export const shapes = {
  S: {
    ...{ hidden: 256, layers: 4, heads: 8, keyValueHeads: 8, inner: 688, vocabulary: 512 },
    ...{ rows: 32, length: 128, ...generation },
  },
  M: {
    ...{ hidden: 288, layers: 6, heads: 6, keyValueHeads: 6, inner: 768, vocabulary: 32_000 },
    ...{ rows: 8, length: 256, ...generation },
  },
  L: {
    ...{ hidden: 576, layers: 30, heads: 9, keyValueHeads: 3, inner: 1536, vocabulary: 49_152 },
    ...{ rows: 2, length: 256, ...generation },
  },
} as const satisfies Record<string, BenchShape>;

/** Name of a shape. */
export type ShapeName = keyof typeof shapes;

/** A model of this shape with random weights, and a tokenizer that never ends a completion. */
export function benchModel(shape: BenchShape): LanguageModel {
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: shape.vocabulary,
    hidden_size: shape.hidden,
    intermediate_size: shape.inner,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyValueHeads,
    max_position_embeddings: 1024,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    hidden_act: 'silu',
    tie_word_embeddings: true,
  });
  return createModel({ config, tokenizer: characterTokenizer('a'), seed: 'bench' });
}

/** One batch of a shape with advantages and the named columns of logprobs, which lie near those of an untrained model. */
export function benchSequences(
  { rows, length, vocabulary }: BenchShape,
  logprobs: readonly string[],
): TrainingSequence[] {
  const random = RandomStream.named('bench', 'batch');
  const numbers = (value: () => number) => Array.from({ length: length + 1 }, value);
  const near = () => numbers(() => -Math.log(vocabulary) + 0.1 * (random.uniform() - 0.5));
  return Array.from({ length: rows }, () => ({
    tokens: numbers(() => random.integer(vocabulary)),
    mask: numbers(() => 1).with(0, 0),
    weights: numbers(() => 1 / (rows * length)),
    columns: {
      advantages: numbers(() => 2 * random.uniform() - 1),
      ...Object.fromEntries(logprobs.map((name) => [name, near()])),
    },
  }));
}
