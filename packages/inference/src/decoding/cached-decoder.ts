import type { TokenId } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import type { OperatorSet } from '@rlp/onnx/layers';
import type { WeightPlacement } from './weights.ts';

/** Distribution of one token. */
export interface Distribution {
  /** Softmax of `logits / temperature`. Shape: `[V]`. */
  readonly probabilities: Float32Array;
  /** `logits / temperature`, present only if requested. Shape: `[V]`. */
  readonly logits?: Float32Array | undefined;
}

/** A {@link Distribution} of the next token for each of several rows. Shapes: `[n, V]`. The decoder's next call overwrites the arrays. */
export interface NextTokenDistributions extends Distribution {}

/** Tokens that a decoder drew, with their probabilities. */
export interface DrawnTokens {
  readonly tokens: readonly TokenId[];
  readonly probabilities: Float32Array;
}

/** The next token of each of the rows 0 … n − 1. Shape of each: `[n]`. */
export interface NextTokens {
  readonly tokens: readonly TokenId[];
  /** Position of each token: the number of tokens in its row. */
  readonly positions: readonly number[];
  /** Temperatures of the distributions that follow. */
  readonly temperatures: readonly number[];
}

/** Further tokens of one row. */
export interface RowExtension {
  readonly row: number;
  /** Number of tokens in the row. */
  readonly length: number;
  readonly tokens: readonly TokenId[];
  readonly temperature: number;
  /** Number of tokens, counted from the last, to return a distribution for. */
  readonly last: number;
}

/** Rows that begin like another row. */
export interface RowFork {
  readonly from: number;
  /** The first of the rows. */
  readonly to: number;
  readonly count: number;
  /** Number of positions. */
  readonly length: number;
}

/** Whether a computation returns logits too. */
export type LogitsNeed = 'needed' | 'unneeded';

/**
 * A decoder-only model with a key-value cache of `maxSequences` rows.
 *
 * A row holds the keys and values of one sequence. Rows in use are always the first ones. The caller decides which sequence has which row.
 */
export interface CachedDecoder {
  readonly vocabularySize: number;
  /** Positions per row. */
  readonly contextLength: number;
  readonly maxSequences: number;
  /**
   * Computes prompts into the rows from `firstRow` on.
   *
   * @param temperatures - Temperature of each prompt's distribution. Shape: `[n]`.
   */
  prefill(
    firstRow: number,
    prompts: readonly (readonly TokenId[])[],
    temperatures: readonly number[],
    logits: LogitsNeed,
  ): Promise<NextTokenDistributions>;
  /** Appends one token to each of the rows 0 … n − 1. */
  decode(next: NextTokens, logits: LogitsNeed): Promise<NextTokenDistributions>;
  /**
   * Appends one token to each of the rows 0 … n − 1 and draws the next ones, without returning distributions. Absent if that is not faster.
   *
   * @param uniforms - Numbers in [0, 1). Shape: `[n]`.
   */
  decodeDrawn?(next: NextTokens, uniforms: readonly number[]): Promise<DrawnTokens>;
  /** Appends tokens to one row. */
  extend(extension: RowExtension, logits: LogitsNeed): Promise<NextTokenDistributions>;
  /** Begins rows with the first positions of another row. */
  fork(fork: RowFork): void;
  /** Copies the first `length` positions of a row over another row. */
  copyRow(from: number, to: number, length: number): void;
  /** Bytes of one position of a row. */
  readonly positionBytes: number;
  /** Copies positions of a row, from `position` on, into `into`. As many as it has room for. */
  saveRow(row: number, position: number, into: Float32Array): void;
  /** Copies positions back into a row, from `position` on. */
  loadRow(row: number, position: number, from: Float32Array): void;
}

/** What a decoder needs. */
export interface DecoderOptions {
  readonly config: ModelConfig;
  /** The store that holds the weights. */
  readonly store: string;
  readonly contextLength: number;
  readonly maxSequences: number;
  readonly weights: WeightPlacement;
  readonly operators: OperatorSet;
}

/** A decoder that owns sessions. */
export interface ManagedDecoder extends CachedDecoder {
  /** Compiles the sessions that every generation needs, so that the first request does not wait for them. */
  prepare(): Promise<void>;
  /** Takes over changed weights. Sessions with built-in weights are compiled again. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}
