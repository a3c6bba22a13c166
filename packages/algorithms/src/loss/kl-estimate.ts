import type { TensorOps } from '@rlp/core';
import { limit } from './clipped-surrogate.ts';

/** What {@link klEstimate} reads; each `[B, T]`. */
export interface KlInputs<T> {
  /** `ln π_θ`. */
  readonly logprobs: T;
  /** `ln π_ref`, a constant. */
  readonly referenceLogprobs: T;
}

/** Options of {@link klEstimate}. */
export interface KlOptions {
  /** `'k1'`: −δ; `'k2'`: δ²/2; `'k3'`: e^δ − δ − 1; `'absolute'`: |δ|; with δ = ln π_ref − ln π_θ. */
  readonly estimator: 'k1' | 'k2' | 'k3' | 'absolute';
  /** `k3` only: δ is limited to ± this. Default 20, so that float32 cannot overflow. */
  readonly logRatioLimit?: number | undefined;
  /** The estimate is limited to ± this; the gradient dies beyond. Default: no limit (verl: 10 for k3, OpenRLHF: 10). */
  readonly limit?: number | undefined;
}

/**
 * Per-token estimate of `KL(π_θ ‖ π_ref)` from tokens that π_θ sampled, in nats. `k3` is unbiased and never negative.
 *
 * @see Schulman 2020, http://joschu.net/blog/kl-approx.html
 */
export function klEstimate<T>(
  ops: TensorOps<T>,
  { logprobs, referenceLogprobs }: KlInputs<T>,
  { estimator, logRatioLimit = 20, limit: bound = Number.POSITIVE_INFINITY }: KlOptions,
): T {
  const difference = ops.sub(referenceLogprobs, logprobs);
  return limit(ops, estimate(ops, difference, estimator, logRatioLimit), bound);
}

function estimate<T>(
  ops: TensorOps<T>,
  difference: T,
  estimator: KlOptions['estimator'],
  logRatioLimit: number,
): T {
  switch (estimator) {
    case 'k1':
      return ops.neg(difference);
    case 'k2':
      return ops.mul(ops.constant(0.5), ops.square(difference));
    case 'absolute':
      return ops.abs(difference);
    case 'k3': {
      const delta = limit(ops, difference, logRatioLimit);
      return ops.sub(ops.sub(ops.exp(delta), delta), ops.constant(1));
    }
  }
}
