import { ArgumentError } from './errors.ts';
import { requireArguments } from './options/require-arguments.ts';

/** Rewards of several functions. `null` where a function did not score. Shape: `[P][G][F]`. */
export type RewardsPerFunction = readonly (readonly (readonly (number | null)[])[])[];

/** Standardises the rewards of one function over groups. The result has a number at every place. Shape: `[P][G]`. */
export type GroupNormalization = (
  groups: readonly (readonly (number | null)[])[],
) => readonly (readonly number[])[];

/**
 * First half of sum-then-normalise, the weighted sum over reward functions. A function that did not score counts 0. A
 * completion that none scored is `null`. Shape: `[P][G][F]` to `[P][G]`.
 *
 * @throws ArgumentError if a completion has not one reward per weight.
 */
export function weightedRewards(
  rewards: RewardsPerFunction,
  weights: readonly number[],
): (number | null)[][] {
  requireArguments('weightedRewards', { rewards: 'lists[]', weights: 'numbers' }, rewards, weights);
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
 * Normalise-then-sum. The rewards of every function are standardised first, `Σ_f w_f · normalize(r_f)`.
 *
 * Where sum-then-normalise lets the function with the largest spread decide, here each decides as its weight says. What
 * `normalize` gives for a `null` counts. A completion that no function scored is `null`. Shape: `[P][G][F]` to `[P][G]`.
 *
 * @throws ArgumentError if a completion has not one reward per weight.
 * @see Liu et al. 2026 (GDPO), https://arxiv.org/abs/2601.05242
 */
export function normalizedSums(
  rewards: RewardsPerFunction,
  weights: readonly number[],
  normalize: GroupNormalization,
): (number | null)[][] {
  requireArguments(
    'normalizedSums',
    { rewards: 'lists[]', weights: 'numbers', normalize: 'function' },
    rewards,
    weights,
    normalize,
  );
  const isScored = weightedRewards(rewards, weights);
  const perFunction = weights.map((_, f) =>
    normalize(rewards.map((group) => group.map((scores) => scores[f]!))),
  );
  return isScored.map((group, p) =>
    group.map((score, g) =>
      score === null ? null : weights.reduce((sum, weight, f) => sum + weight * perFunction[f]![p]![g]!, 0),
    ),
  );
}
