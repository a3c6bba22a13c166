import type { ForwardBackwardResult, Metrics, TrainingBackend } from '@rlp/core';
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

/** Mean of numbers. */
export function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
