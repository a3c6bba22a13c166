import type { Loss, TokenId, TrainingBatch, TrainingSequence } from '@rlp/core';
import {
  type PackingLimits,
  requireSeparateRows,
  validateBatch,
  validateTokens,
} from '../batch/packing-validation.ts';

/**
 * Sequences of similar length, right-padded to `[rows, length]` and **shifted**. All arrays are row-major.
 *
 * Column `t` reads token `t` and predicts token `t + 1`. `mask`, `weights` and `columns` belong to token `t +
 * 1`. Padding has token 0 and mask 0.
 */
export interface PaddedRows {
  readonly rows: number;
  readonly length: number;
  /** Index in the batch of the sequence in each row. */
  readonly members: readonly number[];
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
  readonly mask: Float32Array;
  readonly weights: Float32Array;
  readonly columns: Readonly<Record<string, Float32Array>>;
}

/** A batch divided into micro-batches. Their gradients sum to the gradient of the batch. */
export interface PaddedBatch {
  readonly microBatches: readonly PaddedRows[];
  /** Length of every sequence in the batch. */
  readonly lengths: readonly number[];
  readonly temperature: number;
}

/** Options for padding. */
export interface PaddingOptions extends PackingLimits {
  /**
   * Maximum positions of a micro-batch: rows × length with padding. A longer sequence gets a separate
   * micro-batch.
   */
  readonly tokensPerMicroBatch: number;
}

/**
 * Divides a batch into micro-batches of at most `tokensPerMicroBatch` positions, longest sequences first.
 *
 * Columns and weights become 0 if the mask is 0, so their values cannot reach the loss. Sequences with one
 * token have no predictions and appear in no micro-batch.
 *
 * @throws ArgumentError naming every problem of the batch at once.
 */
export function padBatch(batch: TrainingBatch, loss: Loss, options: PaddingOptions): PaddedBatch {
  requireSeparateRows(loss);
  validateBatch(batch, loss, options);
  const { sequences } = batch;
  const lengths = sequences.map(({ tokens }) => tokens.length);
  const layouts = layOut(lengths, options);
  return {
    microBatches: layouts.map((layout) => fill(layout, sequences, loss.columns)),
    lengths,
    temperature: sequences[0]!.temperature ?? 1,
  };
}

/** Pads plain sequences for scoring. Every mask is 0. Throws as {@link padBatch} does. */
export function padSequences(
  sequences: readonly (readonly TokenId[])[],
  temperature: number,
  options: PaddingOptions,
): PaddedBatch {
  validateTokens('logprobs', sequences, options, { temperature });
  const lengths = sequences.map((tokens) => tokens.length);
  const plain = sequences.map((tokens) => ({ tokens, mask: [], weights: [], columns: {} }));
  return {
    microBatches: layOut(lengths, options).map((layout) => fill(layout, plain, [])),
    lengths,
    temperature,
  };
}

/**
 * Reverses the padding of per-token results. Returns one array per sequence, aligned with its tokens, 0 at
 * position 0.
 *
 * @param results - One `[rows, length]` array per micro-batch.
 */
export function unpad(padded: PaddedBatch, results: readonly Float32Array[]): Float32Array[] {
  const unpacked = padded.lengths.map((length) => new Float32Array(length));
  for (const [index, { members, length }] of padded.microBatches.entries()) {
    const result = results[index]!;
    for (const [row, member] of members.entries()) {
      const target = unpacked[member]!;
      target.set(result.subarray(row * length, row * length + target.length - 1), 1);
    }
  }
  return unpacked;
}

interface Layout {
  readonly rows: number;
  readonly length: number;
  readonly members: readonly number[];
}

/** Assigns sequences to micro-batches, longest first. The first sequence sets the length of its micro-batch. */
function layOut(lengths: readonly number[], { tokensPerMicroBatch }: PaddingOptions): Layout[] {
  const order = lengths
    .map((length, index) => ({ positions: length - 1, index }))
    .filter(({ positions }) => positions > 0)
    .sort((a, b) => b.positions - a.positions || a.index - b.index);
  const layouts: Layout[] = [];
  for (let next = 0; next < order.length; ) {
    const length = order[next]!.positions;
    const most = Math.max(1, Math.floor(tokensPerMicroBatch / length));
    const members = order.slice(next, next + most).map(({ index }) => index);
    layouts.push({ rows: members.length, length, members });
    next += members.length;
  }
  return layouts;
}

function fill(layout: Layout, sequences: readonly TrainingSequence[], names: readonly string[]): PaddedRows {
  const { rows, length, members } = layout;
  const size = rows * length;
  const zeros = (): Float32Array => new Float32Array(size);
  const filled = {
    tokens: new Int32Array(size),
    targets: new Int32Array(size),
    mask: zeros(),
    weights: zeros(),
    columns: Object.fromEntries(names.map((name) => [name, zeros()])),
  };
  for (const [row, member] of members.entries()) fillRow(filled, row * length, sequences[member]!);
  return { rows, length, members, ...filled };
}

function fillRow(
  filled: Pick<PaddedRows, 'tokens' | 'targets' | 'mask' | 'weights' | 'columns'>,
  start: number,
  { tokens, mask, weights, columns }: TrainingSequence,
): void {
  for (let t = 1; t < tokens.length; t++) {
    const position = start + t - 1;
    filled.tokens[position] = tokens[t - 1]!;
    filled.targets[position] = tokens[t]!;
    if (!mask[t]) continue;
    filled.mask[position] = 1;
    filled.weights[position] = weights[t]!;
    for (const name in filled.columns) filled.columns[name]![position] = columns[name]![t]!;
  }
}
