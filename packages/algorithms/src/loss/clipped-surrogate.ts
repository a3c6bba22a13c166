import { requireArguments, requireFields, type TensorOps } from '@rlp/core';

/** What a surrogate of the ratio reads. Each is `[B, T]` or, over sequences, `[B, 1]`. */
export interface SurrogateInputs<T> {
  /** `π_θ / π_prox`. See `importanceRatio`. */
  readonly ratio: T;
  readonly advantages: T;
}

/** Bounds of {@link clippedSurrogate}. */
export interface ClipOptions {
  /** The ratio's lower bound is `1 − clipLow`. */
  readonly clipLow: number;
  /** The ratio's upper bound is `1 + clipHigh`. */
  readonly clipHigh: number;
  /** Losses of tokens with negative advantage are capped at `−A · dualClip`. Off by default. */
  readonly dualClip?: number | undefined;
  /** The unclipped ratio is capped here (two-sided clipping, TRL's `delta`). Off by default. */
  readonly ratioCap?: number | undefined;
}

/**
 * PPO's clipped surrogate, with separate bounds.
 *
 *     L = −min(ρ·A, clip(ρ, 1 − clipLow, 1 + clipHigh)·A)
 *
 * `dualClip` c, `L = min(L, −c·A)` where `A < 0`. `ratioCap` δ: the first ρ becomes `min(ρ, δ)`. With a ratio over sequences
 * this is GSPO.
 *
 * @see Schulman et al. 2017, eq. 7, https://arxiv.org/abs/1707.06347
 * @see Yu et al. 2025 (DAPO: clipHigh > clipLow), https://arxiv.org/abs/2503.14476
 * @see Ye et al. 2020 (dual clip), https://arxiv.org/abs/1912.09729
 */
export function clippedSurrogate<T>(ops: TensorOps<T>, inputs: SurrogateInputs<T>, options: ClipOptions): T {
  requireArguments('clippedSurrogate', { ops: 'operations' }, ops);
  requireFields('clippedSurrogate', { ratio: 'given', advantages: 'given' }, inputs);
  const { ratio, advantages } = inputs;
  requireFields(
    'clippedSurrogate',
    { clipLow: 'number', clipHigh: 'number', dualClip: 'number?', ratioCap: 'number?' },
    options,
  );
  const { clipLow, clipHigh, dualClip, ratioCap } = options;
  const clipped = ops.clip(ratio, 1 - clipLow, 1 + clipHigh);
  const unclipped = ratioCap === undefined ? ratio : ops.clip(ratio, Number.NEGATIVE_INFINITY, ratioCap);
  const losses = ops.neg(ops.minimum(ops.mul(unclipped, advantages), ops.mul(clipped, advantages)));
  if (dualClip === undefined) return losses;
  const cap = ops.neg(ops.mul(advantages, ops.constant(dualClip)));
  const negative = ops.greater(ops.constant(0), advantages);
  return ops.where(negative, ops.minimum(losses, cap), losses);
}
