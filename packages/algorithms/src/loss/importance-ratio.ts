import { requireArguments, requireChoice, requireFields, type TensorOps } from '@rlp/core';
import { type CountFloor, limit, maskedRowMean, maskedRowSum, requireCountFloor } from './masked.ts';

/** Over what a ratio of two policies is taken. See {@link importanceRatio}. */
export const ratioLevels = ['token', 'sequence', 'sequence-token', 'sequence-product'] as const;

/** One of {@link ratioLevels}. */
export type RatioLevel = (typeof ratioLevels)[number];

/** What {@link importanceRatio} reads. Each is `[B, T]`. */
export interface RatioInputs<T> {
  /** `ln π_θ` of the policy being updated. */
  readonly logprobs: T;
  /** `ln π_prox` of the policy that the ratio is taken to, a constant. */
  readonly proximalLogprobs: T;
  /** 1 where a token counts. */
  readonly mask: T;
}

/** Options of {@link importanceRatio}. */
export interface RatioOptions {
  /** Default `'token'`. */
  readonly level?: RatioLevel | undefined;
  /** The level's log-ratio is limited to ± this before exp. Default 20, so that float32 cannot overflow. */
  readonly logRatioLimit?: number | undefined;
  /** It is also limited to this from above. No further limit by default (verl and SkyRL have 10 at sequence levels). */
  readonly logRatioCap?: number | undefined;
  /** Divisor of a sequence's mean. Default `'at-least-one'`. */
  readonly countFloor?: CountFloor | undefined;
}

/**
 * The importance ratio `ρ = π_θ / π_prox`, over tokens or over sequences. With `δ_t = ln π_θ − ln π_prox` and `n` tokens that
 * count in a sequence:
 *
 * | level | value | gradient by `ln π_θ` of token t | shape | known as |
 * |---|---|---|---|---|
 * | `token` | `exp δ_t` | `ρ_t` | `[B, T]` | PPO, GRPO |
 * | `sequence` | `exp(Σ δ / n)` | `ρ / n`, through the mean | `[B, 1]` | GSPO: TRL, OpenRLHF, slime |
 * | `sequence-token` | `exp(Σ δ / n)` | `ρ`, each token for itself | `[B, T]` | GSPO-token: verl, SkyRL |
 * | `sequence-product` | `exp(Σ δ)` | `ρ` | `[B, 1]` | RLOO: TRL |
 *
 * @see Zheng et al. 2025 (GSPO), eq. 7 and 14, https://arxiv.org/abs/2507.18071
 */
export function importanceRatio<T>(ops: TensorOps<T>, inputs: RatioInputs<T>, options: RatioOptions = {}): T {
  requireArguments('importanceRatio', { ops: 'operations' }, ops);
  requireFields('importanceRatio', { logprobs: 'given', proximalLogprobs: 'given', mask: 'given' }, inputs);
  requireFields('importanceRatio', { logRatioLimit: 'number?', logRatioCap: 'number?' }, options);
  const { level = 'token', countFloor, logRatioLimit = 20, logRatioCap } = options;
  requireChoice('importanceRatio', 'level', level, ratioLevels);
  requireCountFloor('importanceRatio', countFloor);
  const bounded = limit(ops, logRatio(ops, inputs, level, countFloor), logRatioLimit);
  const capped =
    logRatioCap === undefined ? bounded : ops.clip(bounded, Number.NEGATIVE_INFINITY, logRatioCap);
  return ops.exp(capped);
}

function logRatio<T>(
  ops: TensorOps<T>,
  { logprobs, proximalLogprobs, mask }: RatioInputs<T>,
  level: RatioLevel,
  countFloor: CountFloor | undefined,
): T {
  const difference = ops.sub(logprobs, proximalLogprobs);
  switch (level) {
    case 'token':
      return difference;
    case 'sequence':
      return maskedRowMean(ops, difference, mask, countFloor);
    case 'sequence-product':
      return maskedRowSum(ops, difference, mask);
    case 'sequence-token': {
      const mean = ops.stopGradient(maskedRowMean(ops, difference, mask, countFloor));
      return ops.add(ops.sub(logprobs, ops.stopGradient(logprobs)), mean);
    }
  }
}

/** How {@link mixedRatio} weighs its two parts. */
export interface MixedRatioOptions {
  /** Share α of the sequence's mean log-ratio. */
  readonly sequence: number;
  /** Share β of the token's log-ratio, which carries the gradient. */
  readonly token: number;
}

/**
 * A ratio between sequence and token, `ρ = exp(α · sg[mean δ] + β · δ_t)`, `[B, T]`. textpolicy's "hybrid" GSPO.
 */
export function mixedRatio<T>(ops: TensorOps<T>, inputs: RatioInputs<T>, options: MixedRatioOptions): T {
  requireArguments('mixedRatio', { ops: 'operations' }, ops);
  requireFields('mixedRatio', { logprobs: 'given', proximalLogprobs: 'given', mask: 'given' }, inputs);
  const { logprobs, proximalLogprobs, mask } = inputs;
  requireFields('mixedRatio', { sequence: 'number', token: 'number' }, options);
  const { sequence, token } = options;
  const difference = ops.sub(logprobs, proximalLogprobs);
  const mean = ops.stopGradient(maskedRowMean(ops, difference, mask));
  return ops.exp(ops.add(ops.mul(ops.constant(sequence), mean), ops.mul(ops.constant(token), difference)));
}
