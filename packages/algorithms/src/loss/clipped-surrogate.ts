import type { TensorOps } from '@rlp/core';

/** What {@link clippedSurrogate} reads; each `[B, T]`. */
export interface SurrogateInputs<T> {
  /** `ln π_θ`: of the policy being updated. */
  readonly logprobs: T;
  /** `ln π_prox`: of the policy that the ratio is taken to, a constant. */
  readonly proximalLogprobs: T;
  readonly advantages: T;
}

/** Bounds of {@link clippedSurrogate}. */
export interface ClipOptions {
  /** The ratio's lower bound is `1 − clipLow`. */
  readonly clipLow: number;
  /** The ratio's upper bound is `1 + clipHigh`. */
  readonly clipHigh: number;
  /** Losses of tokens with negative advantage are capped at `−A · dualClip`. Default: no cap. */
  readonly dualClip?: number | undefined;
  /** The unclipped ratio is capped here (two-sided clipping). Default: no cap. */
  readonly ratioCap?: number | undefined;
  /** The log-ratio is limited to ± this before exp. Default 20, so that float32 cannot overflow. */
  readonly logRatioLimit?: number | undefined;
}

/** The surrogate and the ratio it was made of; each `[B, T]`. */
export interface Surrogate<T> {
  readonly losses: T;
  /** `π_θ / π_prox`. */
  readonly ratio: T;
}

/**
 * PPO's clipped surrogate, per token, with separate bounds.
 *
 *     ρ = exp(ln π_θ − ln π_prox)
 *     L = −min(ρ·A, clip(ρ, 1 − clipLow, 1 + clipHigh)·A)
 *
 * @see Schulman et al. 2017, eq. 7, https://arxiv.org/abs/1707.06347
 * @see Yu et al. 2025 (DAPO: clipHigh > clipLow), https://arxiv.org/abs/2503.14476
 * @see Ye et al. 2020 (dual clip), https://arxiv.org/abs/1912.09729
 */
export function clippedSurrogate<T>(
  ops: TensorOps<T>,
  { logprobs, proximalLogprobs, advantages }: SurrogateInputs<T>,
  { clipLow, clipHigh, dualClip, ratioCap, logRatioLimit = 20 }: ClipOptions,
): Surrogate<T> {
  const ratio = ops.exp(limit(ops, ops.sub(logprobs, proximalLogprobs), logRatioLimit));
  const clipped = ops.clip(ratio, 1 - clipLow, 1 + clipHigh);
  const unclipped = ratioCap === undefined ? ratio : ops.clip(ratio, Number.NEGATIVE_INFINITY, ratioCap);
  const losses = ops.neg(ops.minimum(ops.mul(unclipped, advantages), ops.mul(clipped, advantages)));
  if (dualClip === undefined) return { losses, ratio };
  const cap = ops.neg(ops.mul(advantages, ops.constant(dualClip)));
  const negative = ops.greater(ops.constant(0), advantages);
  return { losses: ops.where(negative, ops.minimum(losses, cap), losses), ratio };
}

/** `x` limited to `[−bound, bound]`; `x` itself when the bound is infinite. */
export function limit<T>(ops: TensorOps<T>, x: T, bound: number): T {
  return Number.isFinite(bound) ? ops.clip(x, -bound, bound) : x;
}
