import { normalizedSums, type RewardsPerFunction, requireArguments } from '@rlp/core';
import { whitened } from '../statistics/whitened.ts';
import {
  type GroupRelativeOptions,
  type GroupRewards,
  groupRelativeAdvantages,
  requireRewards,
} from './group-relative.ts';

/**
 * Normalise-then-sum: every reward function is standardised within its group, the weighted sum is standardised over the
 * batch.
 *
 *     A = standardise_batch( Σ_f w_f · groupRelative(r_f) )
 *
 * Where sum-then-normalise (`groupRelativeAdvantages` of `weightedRewards`) lets the function with the largest
 * spread decide, here each decides as its weight says. Completions that no function scored get 0 and are left out.
 * `options` apply to the first standardisation, and its epsilon to the second. Shape `[P][G][F]` to `[P][G]`.
 *
 * @throws ArgumentError if a completion has not one reward per weight or a reward is not finite.
 * @see Liu et al. 2026 (GDPO), https://arxiv.org/abs/2601.05242
 */
export function normalizedThenSummed(
  rewards: RewardsPerFunction,
  weights: readonly number[],
  options: GroupRelativeOptions = {},
): number[][] {
  requireArguments(
    'normalizedThenSummed',
    { rewards: 'lists[]', weights: 'numbers', options: 'object?' },
    rewards,
    weights,
    options,
  );
  const sums = normalizedSums(rewards, weights, (groups) => groupRelativeAdvantages(groups, options));
  return standardizedOverBatch(sums, options.epsilon ?? 1e-6);
}

/**
 * Advantages (or rewards) standardised over the whole batch, `(A − mean) / (std + ε)`, unbiased, `null` left out and
 * given 0. Shape `[P][G]`.
 *
 * @throws ArgumentError for numbers that are not finite.
 */
export function standardizedOverBatch(groups: GroupRewards, epsilon: number): number[][] {
  requireRewards('standardizedOverBatch', groups);
  requireArguments('standardizedOverBatch', { epsilon: 'number' }, epsilon);
  const values = groups.map((group) => group.map((value) => value ?? 0));
  const masks = groups.map((group) => group.map((value) => (value === null ? 0 : 1)));
  return whitened(values, masks, { epsilon, epsilonPlacement: 'added' }).map((row) => [...row]);
}
