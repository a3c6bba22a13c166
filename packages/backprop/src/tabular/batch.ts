import {
  ArgumentError,
  described,
  type Loss,
  type TrainingBatch,
  TrainingError,
  type TrainingSequence,
} from '@rlp/core';
import { type Evaluation, evaluate, type Matrix, matrixFromRows } from '@rlp/tensor';
import { requireBatch, requireSeparateRows } from '../batch/packing-validation.ts';
import { checkLossValues, readsValues } from '../batch/value-losses.ts';
import type { Distribution, LogitsTable } from './table.ts';

/** A batch and the distributions of its tokens. */
export interface ScoredBatch {
  readonly sequences: readonly TrainingSequence[];
  readonly temperature: number;
  /** Row offset and distribution of every token, `undefined` at position 0. Shape: `[B][T]`. */
  readonly positions: readonly (readonly (Position | undefined)[])[];
}

interface Position extends Distribution {
  readonly row: number;
}

/**
 * Computes the distribution of every token of a batch.
 *
 * @throws ArgumentError for an empty batch, mismatched lengths, missing columns, foreign tokens or mixed temperatures.
 */
export function scoreBatch(table: LogitsTable, batch: TrainingBatch, loss: Loss): ScoredBatch {
  requireBatch(batch, loss);
  requireSeparateRows(loss);
  const { sequences } = batch;
  if (sequences.length === 0)
    throw new ArgumentError('forwardBackward: the batch must hold a sequence, got none');
  for (const [index, sequence] of sequences.entries()) checkSequence(table, sequence, loss, index);
  const temperature = sequences[0]!.temperature ?? 1;
  if (sequences.some((sequence) => (sequence.temperature ?? 1) !== temperature)) {
    throw new ArgumentError('forwardBackward: all sequences of a batch must have the same temperature');
  }
  const positions = sequences.map(({ tokens }) =>
    tokens.map((_, t) => {
      if (t === 0) return undefined;
      const row = table.rowOf(tokens, t);
      return { row, ...table.distribution(row, temperature) };
    }),
  );
  return { sequences, temperature, positions };
}

function checkSequence(table: LogitsTable, sequence: TrainingSequence, loss: Loss, index: number): void {
  const owner = `forwardBackward: sequence ${index}`;
  const { tokens, mask, weights, columns } = sequence;
  table.checkTokens(owner, tokens);
  for (const [name, values] of Object.entries({ mask, weights, ...columns })) {
    if (values?.length === tokens.length) continue;
    throw new ArgumentError(
      `${owner}: ${name} must hold one number per token, got ${values?.length ?? described(values)} for ${tokens.length} tokens`,
    );
  }
  const missing = loss.columns.filter((name) => columns[name] === undefined);
  if (missing.length > 0) {
    throw new ArgumentError(`${owner}: loss "${loss.key}" needs the columns ${missing.join(', ')}; add them`);
  }
  for (let t = 0; t < mask.length; t++) {
    if (mask[t] === 0 || mask[t] === 1) continue;
    throw new ArgumentError(`${owner}: mask[${t}] must be 0 or 1, got ${String(mask[t])}`);
  }
  if (tokens.length > 0 && mask[0] !== 0) {
    throw new ArgumentError(`${owner}: mask[0] must be 0, the first token has no logprob`);
  }
}

/** A critic, as {@link evaluateBatch} reads it. */
export interface StateValues {
  /** Value of the state whose distribution begins at this offset of the logits. */
  ofRow(row: number): number;
}

/**
 * Evaluates the loss of a scored batch.
 *
 * @throws TrainingError if the loss or a gradient is not finite.
 * @throws ArgumentError if the loss reads values but the backend has no critic.
 */
export function evaluateBatch(batch: ScoredBatch, loss: Loss, critic: StateValues | undefined): Evaluation {
  const { sequences, positions } = batch;
  checkLossValues(loss, critic === undefined ? 'none' : 'linear');
  const perToken = (read: (position: Position, token: number) => number): Matrix =>
    matrixFromRows(
      positions.map((row, b) =>
        row.map((position, t) => (position === undefined ? 0 : read(position, sequences[b]!.tokens[t]!))),
      ),
    );
  const evaluation = evaluate(loss, {
    logprobs: perToken(({ logprobs }, token) => (loss.values === 'only' ? 0 : logprobs[token]!)),
    mask: matrixFromRows(sequences.map(({ mask }) => mask)),
    weights: matrixFromRows(sequences.map(({ weights }) => weights)),
    entropies: loss.entropies === 'needed' ? perToken(({ entropy }) => entropy) : undefined,
    values: critic && readsValues(loss) ? perToken(({ row }) => critic.ofRow(row)) : undefined,
    columns: Object.fromEntries(
      loss.columns.map((name) => [name, matrixFromRows(sequences.map(({ columns }) => columns[name]!))]),
    ),
  });
  checkFinite(evaluation);
  return evaluation;
}

function checkFinite({ value, gradients }: Evaluation): void {
  const bad = Object.entries(gradients).find(([, tensor]) => tensor?.data.some((x) => !Number.isFinite(x)));
  if (Number.isFinite(value) && bad === undefined) return;
  const name = Number.isFinite(value) ? `the gradient of ${bad![0]}` : `the loss (${value})`;
  throw new TrainingError(
    `forwardBackward: ${name} is not finite; the accumulated gradient was dropped and the weights are unchanged; lower the learning rate or check the batch`,
  );
}

/**
 * Adds the gradient of the logits to `into`, by the chain rule through log-softmax and entropy.
 *
 *     ∂ln p_a/∂z_j = (1[j = a] − p_j) / τ,   ∂H/∂z_j = −p_j (ln p_j + H) / τ
 */
export function accumulateLogits(batch: ScoredBatch, { gradients }: Evaluation, into: Float64Array): void {
  const { logprobs: byLogprob, entropies: byEntropy } = gradients;
  for (const [b, row] of batch.positions.entries()) {
    for (const [t, position] of row.entries()) {
      if (position === undefined) continue;
      const slope = byLogprob.data[b * byLogprob.columns + t]! / batch.temperature;
      const entropySlope = (byEntropy?.data[b * byLogprob.columns + t] ?? 0) / batch.temperature;
      if (slope === 0 && entropySlope === 0) continue;
      into[position.row + batch.sequences[b]!.tokens[t]!]! += slope;
      for (let token = 0; token < position.logprobs.length; token++) {
        const logprob = position.logprobs[token]!;
        const probability = Math.exp(logprob);
        into[position.row + token]! -= probability * (slope + entropySlope * (logprob + position.entropy));
      }
    }
  }
}

/** Logprob of every token of a batch, 0 at position 0. */
export function tokenLogprobs({ sequences, positions }: ScoredBatch): Float32Array[] {
  return positions.map((row, b) =>
    Float32Array.from(row, (position, t) => position?.logprobs[sequences[b]!.tokens[t]!] ?? 0),
  );
}
