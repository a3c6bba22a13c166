import { requireArguments, requireChoice, requireFields, type TensorOps } from '@rlp/core';
import { limit } from './masked.ts';

/** Estimators of {@link klEstimate}. */
export const klEstimators = ['k1', 'k2', 'k3', 'absolute'] as const;

/** One of {@link klEstimators}. */
export type KlEstimator = (typeof klEstimators)[number];

/** What {@link klEstimate} reads. Each is `[B, T]`. */
export interface KlInputs<T> {
  /** `ln π_θ`. */
  readonly logprobs: T;
  /** `ln π_ref`, a constant. */
  readonly referenceLogprobs: T;
}

/** Options of {@link klEstimate}. */
export interface KlOptions {
  /** `'k1'`: −δ; `'k2'`: δ²/2; `'k3'`: e^δ − δ − 1; `'absolute'`: |δ|; with δ = ln π_ref − ln π_θ. */
  readonly estimator: KlEstimator;
  /**
   * δ is limited to ± this. The gradient dies beyond. Default 20 for `k3`, so that float32 cannot overflow, else no limit
   * (open-instruct: 40 for all).
   */
  readonly logRatioLimit?: number | undefined;
  /** The estimate is limited to ± this. The gradient dies beyond. No limit by default (verl has 10 for k3, OpenRLHF 10). */
  readonly limit?: number | undefined;
  /**
   * `'own'`: gradient of the estimate. `'k2'`: straight through, the value of the estimator with the gradient of k2. In
   * expectation that is the gradient of the KL (verl's names with `+`). Default `'own'`.
   */
  readonly gradient?: 'own' | 'k2' | undefined;
}

/**
 * Per-token estimate of `KL(π_θ ‖ π_ref)` from tokens that π_θ sampled, in nats. `k3` is unbiased and never negative.
 *
 * @see Schulman 2020, http://joschu.net/blog/kl-approx.html
 */
export function klEstimate<T>(ops: TensorOps<T>, inputs: KlInputs<T>, options: KlOptions): T {
  requireArguments('klEstimate', { ops: 'operations' }, ops);
  requireFields('klEstimate', { logprobs: 'given', referenceLogprobs: 'given' }, inputs);
  const { logprobs, referenceLogprobs } = inputs;
  requireFields('klEstimate', { logRatioLimit: 'number?', limit: 'number?' }, options);
  const { estimator, gradient = 'own', logRatioLimit, limit: bound = Number.POSITIVE_INFINITY } = options;
  requireChoice('klEstimate', 'estimator', estimator, klEstimators);
  requireChoice('klEstimate', 'gradient', gradient, ['own', 'k2']);
  const deltaLimit = logRatioLimit ?? (estimator === 'k3' ? 20 : Number.POSITIVE_INFINITY);
  const delta = limit(ops, ops.sub(referenceLogprobs, logprobs), deltaLimit);
  const value = limit(ops, estimate(ops, delta, estimator), bound);
  if (gradient === 'own') return value;
  const slope = estimate(ops, delta, 'k2');
  return ops.add(ops.sub(slope, ops.stopGradient(slope)), ops.stopGradient(value));
}

function estimate<T>(ops: TensorOps<T>, delta: T, estimator: KlEstimator): T {
  switch (estimator) {
    case 'k1':
      return ops.neg(delta);
    case 'k2':
      return ops.mul(ops.constant(0.5), ops.square(delta));
    case 'absolute':
      return ops.abs(delta);
    case 'k3':
      return ops.sub(ops.sub(ops.exp(delta), delta), ops.constant(1));
  }
}
