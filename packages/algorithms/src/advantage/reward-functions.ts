import { ArgumentError } from '@rlp/core';
import { whitened } from '../statistics/whitened.ts';
import { type GroupRelativeOptions, type GroupRewards, groupRelativeAdvantages } from './group-relative.ts';

/** Rewards of several functions; `null` where a function did not score. Shape: `[P][G][F]`. */
export type RewardsPerFunction = readonly (readonly (readonly (number | null)[])[])[];

/**
 * Weighted sum over reward functions. A function that did not score counts 0; a completion that none scored is `null`.
 * Shape: `[P][G][F]` to `[P][G]`.
 *
 * @throws ArgumentError where a completion has not one reward per weight.
 */
export function weightedRewards(
  rewards: RewardsPerFunction,
  weights: readonly number[],
): (number | null)[][] {
  return rewards.map((group, p) =>
    group.map((scores, g) => {
      if (scores.length !== weights.length) {
        throw new ArgumentError(
          `weightedRewards: rewards[${p}][${g}] must have ${weights.length} rewards, one per weight, got ${scores.length}`,
        );
      }
      if (scores.every((score) => score === null)) return null;
      let sum = 0;
      for (const [f, score] of scores.entries()) if (score !== null) sum += weights[f]! * score;
      return sum;
    }),
  );
}

/**
 * Normalise-then-sum: every reward function is standardised within its group, the weighted sum is standardised over the
 * batch.
 *
 *     A = standardise_batch( Σ_f w_f · groupRelative(r_f) )
 *
 * Where sum-then-normalise (`groupRelativeAdvantages` of {@link weightedRewards}) lets the function with the largest
 * spread decide, here each decides as its weight says. Completions that no function scored get 0 and are left out.
 * `options` apply to the first standardisation, and its epsilon to the second. Shape: `[P][G][F]` to `[P][G]`.
 *
 * @throws ArgumentError where a completion has not one reward per weight or a reward is not finite.
 * @see Liu et al. 2026 (GDPO), https://arxiv.org/abs/2601.05242
 */
export function normalizedThenSummed(
  rewards: RewardsPerFunction,
  weights: readonly number[],
  options: GroupRelativeOptions = {},
): number[][] {
  const scored = weightedRewards(rewards, weights);
  const perFunction = weights.map((_, f) =>
    groupRelativeAdvantages(
      rewards.map((group) => group.map((scores) => scores[f]!)),
      options,
    ),
  );
  const sums = scored.map((group, p) =>
    group.map((score, g) =>
      score === null ? null : weights.reduce((sum, weight, f) => sum + weight * perFunction[f]![p]![g]!, 0),
    ),
  );
  return standardizedOverBatch(sums, options.epsilon ?? 1e-6);
}

/**
 * Advantages (or rewards) standardised over the whole batch: `(A − mean) / (std + ε)`, unbiased, `null` left out and
 * given 0. Shape: `[P][G]`.
 *
 * @throws ArgumentError for numbers that are not finite.
 */
export function standardizedOverBatch(groups: GroupRewards, epsilon: number): number[][] {
  const values = groups.map((group) => group.map((value) => value ?? 0));
  const masks = groups.map((group) => group.map((value) => (value === null ? 0 : 1)));
  return whitened(values, masks, { epsilon, epsilonPlacement: 'added' }).map((row) => [...row]);
}
