import {
  ArgumentError,
  type CallableRewardComputer,
  callableRewards,
  described,
  normalizedSums,
  parseOptions,
  type RewardComputer,
} from '@rlp/core';
import * as z from 'zod';
import {
  type FunctionRewardComputer,
  type RewardParts,
  rewardFunctions,
  rewardFunctionsSchema,
  scalableWeights,
} from '../functions/reward-functions.ts';
import { hasMethod } from '../shared/schemas.ts';
import { regrouped } from './group-method.ts';
import {
  type RelativeRewardsOptions,
  relativeRewards,
  relativeSchema,
  standardizedRewards,
} from './normalized.ts';

const absoluteSchema = z.strictObject({
  /** How rewards are normalised within the group. Default `'population-std'`. */
  normalize: z.enum(['none', 'population-std']).default('population-std'),
});
const normalizedSchema = z.strictObject({
  ...rewardFunctionsSchema.shape,
  /**
   * Trajectory that a part could not score: `'unscorable'` as a whole, or scored by the other parts (`'partial'`). A missing part then
   * counts 0, its mean. Default `'unscorable'`.
   */
  missing: z.enum(['unscorable', 'partial']).default('unscorable'),
});

/** Options of {@link absoluteRewardComputer}. */
export interface AbsoluteRewardOptions extends z.input<typeof absoluteSchema> {}

/**
 * Sum-then-normalise: the rewards of `inner`, standardised within the group by {@link standardizedRewards}.
 * The components stay, and `components.score` is the reward before.
 */
export function absoluteRewardComputer<Metadata, Outcome = unknown>(
  inner: RewardComputer<Metadata, Outcome>,
  options: AbsoluteRewardOptions = {},
): CallableRewardComputer<Metadata, Outcome> {
  const { normalize } = parseOptions('absoluteRewardComputer', absoluteSchema, options);
  checkComputer('absoluteRewardComputer', inner);
  return overScores(inner, (scores) => (normalize === 'none' ? scores : standardizedRewards(scores)));
}

/**
 * Ranks within the group instead of scores. The rewards of `inner` go through {@link relativeRewards}.
 * The components stay, and `components.score` is the reward before.
 */
export function relativeRewardComputer<Metadata, Outcome = unknown>(
  inner: RewardComputer<Metadata, Outcome>,
  options: RelativeRewardsOptions = {},
): CallableRewardComputer<Metadata, Outcome> {
  const resolved = parseOptions('relativeRewardComputer', relativeSchema, options);
  checkComputer('relativeRewardComputer', inner);
  return overScores(inner, (scores) => relativeRewards(scores, resolved));
}

function checkComputer(owner: string, inner: unknown): void {
  if (hasMethod(inner, 'computeRewards')) return;
  throw new ArgumentError(
    `${owner}: expected a reward computer, got ${described(inner)}; rewardFunctions({ … }) makes one of functions`,
  );
}

function overScores<Metadata, Outcome>(
  inner: RewardComputer<Metadata, Outcome>,
  rewardsOf: (scores: readonly (number | null)[]) => readonly (number | null)[],
): CallableRewardComputer<Metadata, Outcome> {
  const computer = regrouped(inner, (scored) => {
    const rewards = rewardsOf(scored.map(({ reward }) => reward));
    return scored.map(({ reward: score }, g) => ({ reward: rewards[g]!, components: { score } }));
  });
  const scaleWeight: RewardComputer['scaleWeight'] =
    inner.scaleWeight && ((component, factor) => inner.scaleWeight!(component, factor));
  return callableRewards({ ...computer, ...(scaleWeight && { scaleWeight }) });
}

/** Options of {@link normalizedRewardFunctions}. */
export interface NormalizedRewardFunctionsOptions extends z.input<typeof normalizedSchema> {}

/**
 * Normalise-then-sum (GDPO's rewards): every part is standardised within the group before the weighted sum,
 *
 *     reward = Σ_k weight_k · standardized(component_k)
 *
 * so that a part decides as its weight says, not as its spread. The components stay raw. Parts with weight 0 only observe.
 *
 * @see Liu et al. 2026 (GDPO), https://arxiv.org/abs/2601.05242
 */
export function normalizedRewardFunctions<Metadata, Outcome = unknown, Name extends string = string>(
  parts: RewardParts<Metadata, Outcome, Name>,
  options: NormalizedRewardFunctionsOptions = {},
): FunctionRewardComputer<Metadata, Outcome, Name> {
  const { missing, ...others } = parseOptions('normalizedRewardFunctions', normalizedSchema, options);
  const inner = rewardFunctions<Metadata, Outcome>(parts, others);
  const { weightOf, scaleWeight } = scalableWeights(parts);
  const computer = regrouped(inner, (scored) => {
    const counting = [...weightOf].filter(([, weight]) => weight !== 0);
    const names = counting.map(([name]) => name);
    const weights = counting.map(([, weight]) => weight);
    const rows = scored.map(({ components }) => names.map((name) => components[name] ?? null));
    const usable = rows.map((row) =>
      missing === 'unscorable' && row.includes(null) ? row.map(() => null) : row,
    );
    const [rewards] = normalizedSums([usable], weights, ([column]) => [
      // A score alone in its group is no better than its siblings.
      column!.filter((score) => score !== null).length < 2
        ? column!.map(() => 0)
        : standardizedRewards(column!).map((value) => value ?? 0),
    ]);
    return rewards!.map((reward) => ({ reward, components: {} }));
  });
  const named = callableRewards({ ...computer, scaleWeight, getStatistics: () => inner.getStatistics() });
  return named as unknown as FunctionRewardComputer<Metadata, Outcome, Name>;
}
