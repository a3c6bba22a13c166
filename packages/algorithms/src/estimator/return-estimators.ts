import { type NamedSchema, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { type DiscountedReturnOptions, discountedReturnSchema } from '../advantage/discounted-returns.ts';
import {
  type OptimalTokenBaselineOptions,
  optimalTokenBaseline,
} from '../advantage/optimal-token-baseline.ts';
import { reinforceAdvantages } from '../advantage/token-advantages.ts';
import type { TokenBatch, TokenEstimator } from '../loop/protocol.ts';
import { applyWhitening, whiteningSchema } from './whitening.ts';

const fields = z.strictObject({
  ...discountedReturnSchema.shape,
  /** Subtracts the mean return of all trajectories (`'batch-mean'`) or of their group (`'group-mean'`). Default `'none'`. */
  baseline: z.enum(['none', 'batch-mean', 'group-mean']).default('none'),
  /** Whitens the advantages over the tokens of the iteration. Default `'none'`, and `{}` for REINFORCE++. */
  whitening: whiteningSchema.default('none'),
});

/** What {@link reinforceEstimator} subtracts from every return. */
export type ReinforceBaseline = z.output<typeof fields>['baseline'];

/** Options of {@link reinforceEstimator}. */
export interface ReinforceEstimatorOptions extends z.input<typeof fields> {}

/** {@link ReinforceEstimatorOptions} with every default filled in. */
export interface ResolvedReinforceEstimatorOptions extends z.output<typeof fields> {}

/** Schema of {@link ReinforceEstimatorOptions}. */
export const reinforceEstimatorSchema: NamedSchema<
  ReinforceEstimatorOptions,
  ResolvedReinforceEstimatorOptions
> = fields;

/**
 * REINFORCE takes the reward still to come, per token, less a baseline.
 *
 * Sees rewards of steps and the KL in the reward where they stand, because what was earned before a token is not its merit.
 *
 * @throws OptionsError for options outside their ranges.
 * @see Williams 1992, https://doi.org/10.1007/BF00992696
 */
export function reinforceEstimator(options: ReinforceEstimatorOptions = {}): TokenEstimator {
  const parsed = parseOptions(
    'estimators.reinforce',
    reinforceEstimatorSchema,
    options,
    'ReinforceEstimatorOptions',
  );
  const { baseline, whitening, ...own } = parsed;
  return {
    estimate: (batch) => {
      const { rewards, masks } = batch;
      const { returns } = reinforceAdvantages({ rewards, masks }, own);
      const totals = masks.map((mask, b) => returns[b]![firstTrained(mask)] ?? 0);
      const baselines = baselinesOf(batch, totals, baseline);
      const { advantages } = reinforceAdvantages({ rewards, masks, baselines }, own);
      return { advantages: applyWhitening(advantages, masks, whitening) };
    },
  };
}

/** Index of the first token that counts, or −1 if none does. */
function firstTrained(mask: ArrayLike<number>): number {
  return Array.prototype.findIndex.call(mask, (counts) => counts !== 0);
}

/** Mean total of the batch, or of each row's group. Rows without trained tokens do not count. */
function baselinesOf(
  { owners, masks }: TokenBatch,
  totals: readonly number[],
  baseline: ReinforceBaseline,
): number[] {
  if (baseline === 'none') return totals.map(() => 0);
  const keyOf = (b: number) => (baseline === 'group-mean' ? owners[b]!.group : 0);
  const sums = new Map<number, { total: number; count: number }>();
  for (const [b, total] of totals.entries()) {
    if (firstTrained(masks[b]!) < 0) continue;
    const sum = sums.get(keyOf(b)) ?? { total: 0, count: 0 };
    sums.set(keyOf(b), { total: sum.total + total, count: sum.count + 1 });
  }
  return totals.map((_, b) => {
    const sum = sums.get(keyOf(b));
    return sum === undefined ? 0 : sum.total / sum.count;
  });
}

/**
 * REINFORCE++ whitens returns over the batch. `baseline: 'group-mean'` is its baseline variant, for groups.
 *
 * @throws OptionsError for options outside their ranges.
 * @see Hu et al. 2025, https://arxiv.org/abs/2501.03262
 */
export function reinforcePlusPlusEstimator(options: ReinforceEstimatorOptions = {}): TokenEstimator {
  return reinforceEstimator({ whitening: {}, ...options });
}

/**
 * ReMax has the reward of the greedy trajectory of the same task as its baseline. The loop collects that trajectory besides.
 *
 * Where that could not be scored, nothing is learned from the task's trajectories.
 *
 * @throws OptionsError for options outside their ranges.
 * @see Li et al. 2023, https://arxiv.org/abs/2310.10505
 */
export function remaxEstimator(options: DiscountedReturnOptions = {}): TokenEstimator {
  reinforceAdvantages({ rewards: [] }, options); // checks the options
  return {
    needs: ['greedyRewards'],
    estimate: ({ owners, rewards, masks, greedyRewards }) => {
      const greedy = owners.map(({ group }) => greedyRewards![group] ?? null);
      const baselines = greedy.map((reward) => reward ?? 0);
      const { advantages } = reinforceAdvantages({ rewards, masks, baselines }, options);
      return { advantages: advantages.map((row, b) => (greedy[b] === null ? row.fill(0) : row)) };
    },
  };
}

/**
 * Optimal token baseline. It is the mean return at each position of a group, weighted by the size of the gradient so far.
 *
 * Its weight of a token holds `Σ π(v)²`, which backends do not give. The entropy and the token itself give a lower bound,
 * `max(e^−H, π²)`. It is exact if the policy is uniform on some tokens or certain of this one.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function optimalTokenBaselineEstimator(options: OptimalTokenBaselineOptions = {}): TokenEstimator {
  const none = { rewards: [], masks: [], groups: [], logprobs: [], squaredProbabilitySums: [] };
  optimalTokenBaseline(none, options); // checks the options
  return {
    needs: ['proximalLogprobs', 'entropies'],
    estimate: ({ owners, rewards, masks, proximalLogprobs, entropies }) => {
      const logprobs = proximalLogprobs!;
      const squaredProbabilitySums = logprobs.map((row, b) =>
        Float64Array.from(row, (logprob, t) =>
          Math.max(Math.exp(-entropies![b]![t]!), Math.exp(2 * logprob)),
        ),
      );
      const groups = owners.map(({ group }) => group);
      const inputs = { rewards, masks, groups, logprobs, squaredProbabilitySums };
      return { advantages: optimalTokenBaseline(inputs, options).advantages };
    },
  };
}
