import { requireArguments } from '@rlp/core';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireFinite, requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';
import { type DiscountedReturnOptions, discountedReturns } from './discounted-returns.ts';

/**
 * One advantage per sequence, given to each of its tokens that counts, and 0 elsewhere. Shape `[B]` to `[B][T]`.
 *
 * @throws ArgumentError for numbers that are not finite or advantages that are not one per row.
 */
export function spreadOverTokens(advantages: ArrayLike<number>, masks: TokenRows): Float64Array[] {
  requireRows('spreadOverTokens', { masks });
  requireArguments('spreadOverTokens', { advantages: 'list' }, advantages);
  requireFinite('spreadOverTokens', 'advantages', advantages, masks.length);
  const result = zeroRows(masks);
  for (let b = 0; b < result.length; b++) {
    const mask = masks[b]!;
    const row = result[b]!;
    const advantage = advantages[b]!;
    for (let t = 0; t < row.length; t++) if (mask[t] !== 0) row[t] = advantage;
  }
  return result;
}

/**
 * Sum of a row's rewards: the score of a sequence. Shape `[B][T]` to `[B]`.
 *
 * All tokens count, masked or not, as a reward may stand on the token that ends an episode.
 *
 * @throws ArgumentError for rewards that are not finite.
 */
export function sequenceScores(rewards: TokenRows): Float64Array {
  requireRows('sequenceScores', { rewards });
  return Float64Array.from(rewards, (row) => {
    let sum = 0;
    for (let t = 0; t < row.length; t++) sum += row[t]!;
    return sum;
  });
}

/** What {@link reinforceAdvantages} reads. */
export interface ReinforceInputs {
  /** Reward of every token. Shape `[B][T]`. */
  readonly rewards: TokenRows;
  /** 1 for tokens that the policy chose. Defaults to all. Shape `[B][T]`. */
  readonly masks?: TokenRows | undefined;
  /**
   * Subtracted from the return of every token of a row: the greedy completion's reward (ReMax), a running mean
   * (REINFORCE), a group's mean. Default 0. Shape `[B]`.
   */
  readonly baselines?: ArrayLike<number> | undefined;
}

/**
 * REINFORCE with a baseline per sequence.
 *
 *     A_t = G_t − b
 *
 * `G` comes from `discountedReturns`, with its options. Without discount and with the greedy completion's reward as baseline
 * this is ReMax. Whitened (`whitened`) and without baseline it is REINFORCE++. Outside the mask, `outside` sets both as it
 * does for returns, 0 by default. Each `[B][T]`.
 *
 * @throws ArgumentError for numbers that are not finite or arguments of different shapes, OptionsError for wrong options.
 * @see Williams 1992, https://doi.org/10.1007/BF00992696
 * @see Li et al. 2023 (ReMax), https://arxiv.org/abs/2310.10505
 * @see Hu et al. 2025 (REINFORCE++), https://arxiv.org/abs/2501.03262
 */
export function reinforceAdvantages(
  inputs: ReinforceInputs,
  options: DiscountedReturnOptions = {},
): { readonly advantages: Float64Array[]; readonly returns: Float64Array[] } {
  const known = ['masks', 'baselines'] as const;
  const { rewards, masks, baselines } = namedInputs('reinforceAdvantages', inputs, ['rewards'], known);
  requireRows('reinforceAdvantages', { rewards, masks });
  const returns = discountedReturns({ rewards, masks }, options);
  if (baselines) requireFinite('reinforceAdvantages', 'baselines', baselines, rewards.length);
  const advantages = zeroRows(rewards);
  for (let b = 0; b < advantages.length; b++) {
    const mask = masks?.[b];
    const row = advantages[b]!;
    const from = returns[b]!;
    const baseline = baselines?.[b] ?? 0;
    for (let t = 0; t < row.length; t++) {
      row[t] = mask === undefined || mask[t] !== 0 ? from[t]! - baseline : from[t]!;
    }
  }
  return { advantages, returns };
}
