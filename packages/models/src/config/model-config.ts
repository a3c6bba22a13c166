import type { TokenId } from '@rlp/core';

/** Decoder families that can be built. */
export type Architecture = 'llama' | 'mistral' | 'qwen2' | 'qwen3' | 'gpt2';

/** How rotary frequencies are stretched for contexts longer than those of pretraining. */
export type RopeScaling =
  | { readonly type: 'none' }
  /** Every frequency divided by `factor`. */
  | { readonly type: 'linear'; readonly factor: number }
  /** Low frequencies divided by `factor`, high ones kept, a smooth ramp between (Llama 3.1). */
  | {
      readonly type: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalContextLength: number;
    }
  /** Ramp by dimension, and attention scaled by `attentionFactor` (https://arxiv.org/abs/2309.00071). */
  | {
      readonly type: 'yarn';
      readonly factor: number;
      readonly originalContextLength: number;
      readonly attentionFactor: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      readonly truncate: 'integer' | 'none';
    };

/** Position encoding of a decoder. */
export type PositionEncoding =
  | { readonly type: 'rotary'; readonly theta: number; readonly scaling: RopeScaling }
  /** A learned vector per position, added to the token's embedding (GPT-2). */
  | { readonly type: 'learned' };

/** Function between the two halves of a feed-forward block. `gelu-tanh` is the tanh approximation. */
export type Activation = 'silu' | 'gelu' | 'gelu-tanh';

/** Shape of a decoder, from a Hugging Face `config.json` with synonyms and defaults resolved. */
export interface ModelConfig {
  readonly architecture: Architecture;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly heads: number;
  /** Heads of keys and values; divides `heads`. */
  readonly keyValueHeads: number;
  readonly headDimension: number;
  readonly intermediateSize: number;
  readonly vocabularySize: number;
  /** Maximum positions of the model. */
  readonly contextLength: number;
  readonly position: PositionEncoding;
  /** Root mean square, or layer norm with a bias. */
  readonly norm: { readonly type: 'rms' | 'layer'; readonly epsilon: number };
  /** `'gated'`: down(activation(gate x) · up x). `'plain'`: down(activation(up x)). */
  readonly feedForward: { readonly type: 'gated' | 'plain'; readonly activation: Activation };
  /** Which linear layers have a bias. */
  readonly biases: {
    readonly queryKeyValue: 'none' | 'bias';
    readonly attentionOutput: 'none' | 'bias';
    readonly feedForward: 'none' | 'bias';
  };
  /** RMS norm of each head's queries and keys before the rotation (Qwen3). */
  readonly queryKeyNorm: 'none' | 'per-head';
  /** Whether the output head is the embedding matrix. */
  readonly outputHead: 'tied' | 'separate';
  /**
   * Positions a token attends to, itself included. Longer sequences are refused, because attention is full;
   * see {@link maximumSequenceLength}.
   */
  readonly slidingWindow: number | undefined;
  /** Standard deviation of freshly drawn weights. */
  readonly initializerRange: number;
  readonly bosId: TokenId | undefined;
  readonly eosIds: readonly TokenId[];
  readonly paddingId: TokenId | undefined;
  /** The source `config.json`. It is written back when the model is saved. */
  readonly source: Readonly<Record<string, unknown>>;
  /** The `generation_config.json` beside it, or empty. It is written back too. */
  readonly generation: Readonly<Record<string, unknown>>;
}

/** Fields that a `config.json` defines alone. */
export type DecoderConfig = Omit<ModelConfig, 'generation'>;

/** Longest sequence that the decoder computes exactly: the shorter of context and sliding window. */
export function maximumSequenceLength(config: ModelConfig): number {
  return Math.min(config.contextLength, config.slidingWindow ?? config.contextLength);
}
