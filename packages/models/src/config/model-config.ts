import { requireFields, type TokenId } from '@rlp/core';

/** Decoder families that can be built. */
export type Architecture =
  | 'llama'
  | 'mistral'
  | 'qwen2'
  | 'qwen3'
  | 'qwen3_moe'
  | 'smollm3'
  | 'olmo2'
  | 'phi3'
  | 'gemma3_text'
  | 'gpt2';

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
    }
  | {
      /**
       * `'longrope'`: each frequency has its own divisor (Phi 3, https://arxiv.org/abs/2402.13753). Those for short contexts
       * are used, so the context is the one of pretraining.
       */
      readonly type: 'longrope';
      /** Divisors of the frequencies. Shape: `[headDimension / 2]`. */
      readonly factors: readonly number[];
      /** Factor of the rotation's cosines and sines. */
      readonly attentionFactor: number;
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
    }
  | {
      /** `'none'`: queries and keys stay as they are (every fourth layer of SmolLM3). */
      readonly type: 'none';
    };

/** Function between the two halves of a feed-forward block. `gelu-tanh` is the tanh approximation. */
export type Activation = 'silu' | 'gelu' | 'gelu-tanh';

/** Mixture of experts: each token gets a weighted sum of the experts that the router prefers. */
export interface ExpertsConfig {
  /** Experts of a layer. */
  readonly count: number;
  /** Experts whose outputs a token gets. */
  readonly perToken: number;
  /** Elements between the two halves of one expert. */
  readonly intermediateSize: number;
  /** `'chosen'`: the weights of the chosen experts are divided by their sum. `'none'`: they are used as they are. */
  readonly normalization: 'chosen' | 'none';
  /** Indices of the layers with experts, from 0. The others have one feed-forward half. */
  readonly layers: ReadonlySet<number>;
}

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
  /** Position encodings of the layers, if they differ (SmolLM3, Gemma 3). See {@link positionOf}. */
  readonly layerPositions?: readonly PositionEncoding[] | undefined;
  /** Factor of the token embeddings: √hiddenSize in Gemma 3. Default 1. */
  readonly embeddingScale?: number | undefined;
  /** Factor of attention scores. Default `1 / √headDimension`. See {@link attentionScale}. */
  readonly attentionScale?: number | undefined;
  /** Normalization of the halves of a block and after the last block. The family decides whether it is of their inputs or outputs. */
  readonly norm: {
    /** `'rms'`: root mean square, without a bias. `'layer'`: layer norm. */
    readonly type: 'rms' | 'layer';
    /** Added to the variance (`'layer'`) or the mean square (`'rms'`) before its root. */
    readonly epsilon: number;
    /** Added to the weights of an RMS norm: 1 in Gemma 3. Default 0. */
    readonly offset?: number | undefined;
  };
  /** Feed-forward half of each block. */
  readonly feedForward: {
    /** `'gated'`: down(activation(gate x) · up x). `'plain'`: down(activation(up x)). */
    readonly type: 'gated' | 'plain';
    /** Function between the two linear layers. */
    readonly activation: Activation;
  };
  /** Layers whose feed-forward half is a mixture of experts (Qwen3-MoE). Default: none. */
  readonly experts?: ExpertsConfig | undefined;
  /** Which linear layers have a bias. */
  readonly biases: {
    /** Of the layers for queries, keys and values. */
    readonly queryKeyValue: 'none' | 'bias';
    /** Of the layer after attention. */
    readonly attentionOutput: 'none' | 'bias';
    /** Of the layers of the feed-forward half. */
    readonly feedForward: 'none' | 'bias';
  };
  /**
   * RMS norm of queries and keys before the rotation: of each head (Qwen3, Gemma 3), or of all heads together (OLMo 2).
   */
  readonly queryKeyNorm: 'none' | 'per-head' | 'whole';
  /** Whether the output head is the embedding matrix. */
  readonly outputHead: 'tied' | 'separate';
  /** Positions that a token attends to, itself included. `undefined`: all earlier ones. See {@link windowOf}. */
  readonly slidingWindow: number | undefined;
  /** Which layers have the sliding window. Default: all of them. */
  readonly layerWindows?: readonly ('sliding' | 'full')[] | undefined;
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

/** Position encoding of layer `layer`. */
export function positionOf(config: ModelConfig, layer: number): PositionEncoding {
  requireFields('positionOf', { position: 'object' }, config);
  return config.layerPositions?.[layer] ?? config.position;
}

/** Factor of attention scores, before the mask is added. */
export function attentionScale(config: ModelConfig): number {
  requireFields('attentionScale', { headDimension: 'number' }, config);
  return config.attentionScale ?? 1 / Math.sqrt(config.headDimension);
}

/** Positions that a token of layer `layer` attends to, itself included. `undefined`: all earlier ones. */
export function windowOf(config: ModelConfig, layer: number): number | undefined {
  requireFields('windowOf', { slidingWindow: 'number?' }, config);
  return config.layerWindows?.[layer] === 'full' ? undefined : config.slidingWindow;
}
