import type { ForwardBackwardResult, Metrics, TrainingBackend } from '@rlp/core';
import type { JudgedSequence } from './preferences.ts';
import type { ReferenceScores } from './reference-scores.ts';

/** What one update learns from. */
export interface LearnBatch {
  readonly backend: TrainingBackend;
  readonly references: ReferenceScores;
  /** Indices of the examples. */
  readonly rows: readonly number[];
}

/** Result of accumulating the gradient of a batch. */
export interface Learned {
  readonly pass: ForwardBackwardResult;
  readonly metrics: Metrics;
}

/** Whether a backend can compare both sides of pairs in one pass. */
export function comparesInOnePass(
  { tokensPerRow = 0 }: TrainingBackend,
  sides: readonly Pick<JudgedSequence, 'tokens'>[],
): boolean {
  return sides.every(({ tokens }) => 2 * tokens.length <= tokensPerRow);
}

/** Mean of numbers. */
export function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
