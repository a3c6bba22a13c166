import type { TokenId } from '@rlp/core';

/** Decoder families that can be built. */
export type Architecture = 'llama' | 'mistral' | 'qwen2' | 'qwen3' | 'gpt2';

/** How rotary frequencies are stretched for contexts longer than those of pretraining. */
export type RopeScaling =
  | {
      /** Formula of the scaling. `'none'`: frequencies are kept. */
      readonly type: 'none';
    }
  | {
      /** `'linear'`: every frequency is divided by `factor`. */
      readonly type: 'linear';
      /** Divisor of the frequencies, above 0. */
      readonly factor: number;
    }
  | {
      /** `'llama3'`: low frequencies are divided by `factor`, high ones kept, with a smooth ramp between (Llama 3.1). */
      readonly type: 'llama3';
      /** Divisor of the low frequencies, above 0. */
      readonly factor: number;
      /** Frequencies with fewer rotations over the context of pretraining are divided by `factor`. */
      readonly lowFrequencyFactor: number;
      /** Frequencies with more rotations over the context of pretraining are kept. */
      readonly highFrequencyFactor: number;
      /** Context of pretraining, in tokens. */
      readonly originalContextLength: number;
    }
  | {
      /**
       * `'yarn'`: low frequencies are divided by `factor`, high ones kept, with a ramp by dimension between
       * (https://arxiv.org/abs/2309.00071).
       */
      readonly type: 'yarn';
      /** Divisor of the low frequencies, above 0. */
      readonly factor: number;
      /** Context of pretraining, in tokens. */
      readonly originalContextLength: number;
      /** Factor of the rotation's cosines and sines. */
      readonly attentionFactor: number;
      /** Rotations over the context of pretraining at which the ramp begins. Frequencies with more are kept. */
      readonly betaFast: number;
      /** Rotations over the context of pretraining at which the ramp ends. Frequencies with fewer are divided by `factor`. */
      readonly betaSlow: number;
      /** Whether the ramp's ends are rounded outwards to whole dimensions. */
      readonly truncate: 'integer' | 'none';
    };

/** Position encoding of a decoder. */
export type PositionEncoding =
  | {
      /** `'rotary'`: queries and keys are rotated by angles that grow with the position. */
      readonly type: 'rotary';
      /** Base of the rotary frequencies. */
      readonly theta: number;
      /** Stretching of the frequencies for long contexts. */
      readonly scaling: RopeScaling;
    }
  | {
      /** `'learned'`: a learned vector per position is added to the token's embedding (GPT-2). */
      readonly type: 'learned';
    };

/** Function between the two halves of a feed-forward block. `gelu-tanh` is the tanh approximation. */
export type Activation = 'silu' | 'gelu' | 'gelu-tanh';

/** Shape of a decoder, from a Hugging Face `config.json` with synonyms and defaults resolved. */
export interface ModelConfig {
  /** Decoder family. */
  readonly architecture: Architecture;
  /** Elements of a hidden state. */
  readonly hiddenSize: number;
  /** Number of decoder blocks. */
  readonly layers: number;
  /** Attention heads of queries, per layer. */
  readonly heads: number;
  /** Heads of keys and values; divides `heads`. */
  readonly keyValueHeads: number;
  /** Elements of one attention head. Even if positions are rotary. */
  readonly headDimension: number;
  /** Elements between the two halves of a feed-forward block. */
  readonly intermediateSize: number;
  /** Rows of the embedding matrix, one per token id. */
  readonly vocabularySize: number;
  /** Maximum positions of the model. */
  readonly contextLength: number;
  /** Position encoding. */
  readonly position: PositionEncoding;
  /** Normalization before attention, before the feed-forward half and after the last block. */
  readonly norm: {
    /** `'rms'`: root mean square, without a bias. `'layer'`: layer norm. */
    readonly type: 'rms' | 'layer';
    /** Added to the variance (`'layer'`) or the mean square (`'rms'`) before its root. */
    readonly epsilon: number;
  };
  /** Feed-forward half of each block. */
  readonly feedForward: {
    /** `'gated'`: down(activation(gate x) · up x). `'plain'`: down(activation(up x)). */
    readonly type: 'gated' | 'plain';
    /** Function between the two linear layers. */
    readonly activation: Activation;
  };
  /** Which linear layers have a bias. */
  readonly biases: {
    /** Of the layers for queries, keys and values. */
    readonly queryKeyValue: 'none' | 'bias';
    /** Of the layer after attention. */
    readonly attentionOutput: 'none' | 'bias';
    /** Of the layers of the feed-forward half. */
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
  /** Token that begins a sequence, if the model has one. */
  readonly bosId: TokenId | undefined;
  /** Tokens that end a sequence. Empty if the files name none. */
  readonly eosIds: readonly TokenId[];
  /** Token that fills up batches, if the files name one. */
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
