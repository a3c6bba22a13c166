import { ArgumentError, parseOptions, requireFields, type StepTrace } from '@rlp/core';
import * as z from 'zod';
import { requireFinite } from '../statistics/token-rows.ts';
import { discountedReturns } from './discounted-returns.ts';
import { groupIndices, scatterGroups } from './group-indices.ts';
import { type GroupRelativeOptions, groupRelativeAdvantages } from './group-relative.ts';

/** Schema of {@link GigpoOptions}. */
export const gigpoSchema = z.strictObject({
  /** Discount γ between the steps of an episode. Default 0.95. */
  discount: z.number().min(0).max(1).default(0.95),
  /** `'std'` divides both advantages by their unbiased deviation, `'none'` only centres them. Default `'std'`. */
  scale: z.enum(['std', 'none']).default('std'),
  /** Added to the deviation. Default 0.000001. */
  epsilon: z.number().nonnegative().default(1e-6),
  /**
   * Scores that enter a group's mean: one per trajectory, or one per step (`'step-rows'`, verl-agent). Default
   * `'per-trajectory'`.
   */
  episodeStatistics: z.enum(['per-trajectory', 'step-rows']).default('per-trajectory'),
  /** `'sum'`: `A_E + w·A_S`. `'mix'`: `w·A_E + (1 − w)·A_S`. Default `'sum'`. */
  joint: z.enum(['sum', 'mix']).default('sum'),
  /** The weight w. Default 1. */
  weight: z.number().nonnegative().default(1),
});

/** Options of {@link gigpoAdvantages}. */
export interface GigpoOptions extends z.input<typeof gigpoSchema> {}

/** What {@link gigpoAdvantages} reads: one entry per step, those of a trajectory in order. Each `[B]`. */
export interface GigpoInputs {
  /** The task of the step's trajectory. */
  readonly groups: readonly unknown[];
  /** The step's trajectory. */
  readonly trajectories: readonly unknown[];
  /** The step's state, as numbered by `anchorGroups`. */
  readonly anchors: readonly unknown[];
  /** Reward that the environment gave to the step. */
  readonly stepRewards: ArrayLike<number>;
  /** Score of the step's whole trajectory, the same on each of its steps. */
  readonly episodeScores: ArrayLike<number>;
}

/** Advantages of steps. Each is `[B]`. */
export interface GigpoResult {
  /** What the loss takes, `episode` and `step` together. */
  readonly advantages: Float64Array;
  /** How much better the trajectory did than its siblings. */
  readonly episode: Float64Array;
  /** How much better it went on from this state than from the same state at other times. */
  readonly step: Float64Array;
  /** Discounted sum of the rewards from the step on. */
  readonly stepReturns: Float64Array;
}

/**
 * Group-in-group advantages. Trajectories against their group, steps against steps from the same state.
 *
 *     A_E = (R − mean_group R) [/ (std + ε)],   A_S = (G_t − mean_state G) [/ (std + ε)],   A = A_E + w·A_S
 *
 * A trajectory alone in its group keeps its score (mean 0, deviation 1), a state seen once gives A_S = 0.
 *
 * @throws ArgumentError for lists of different lengths or numbers that are not finite, OptionsError for wrong options.
 * @see Feng et al. 2025 (GiGPO), https://arxiv.org/abs/2505.10978
 */
export function gigpoAdvantages(inputs: GigpoInputs, options: GigpoOptions = {}): GigpoResult {
  const resolved = parseOptions('gigpoAdvantages', gigpoSchema, options, 'GigpoOptions');
  requireFields(
    'gigpoAdvantages',
    { groups: 'list', trajectories: 'list', anchors: 'list', stepRewards: 'list', episodeScores: 'list' },
    inputs,
  );
  requireSteps(inputs);
  const { trajectories, anchors, groups, stepRewards } = inputs;
  const scale = resolved.scale === 'std' ? 'group-std' : 'none';
  const relative: GroupRelativeOptions = { scale, epsilon: resolved.epsilon };
  const episode = episodeAdvantages(inputs, { ...relative, singleMember: 'raw' }, resolved.episodeStatistics);

  const steps = nestedIndices(groups, trajectories).flat();
  const stepReturns = scatterGroups(
    steps,
    discountedReturns({ rewards: gather(steps, stepRewards) }, { discount: resolved.discount }),
  );
  const states = nestedIndices(groups, anchors).flat();
  const step = scatterGroups(states, groupRelativeAdvantages(gather(states, stepReturns), relative));
  const [episodeWeight, stepWeight] =
    resolved.joint === 'sum' ? [1, resolved.weight] : [resolved.weight, 1 - resolved.weight];
  const advantages = episode.map((value, row) => episodeWeight * value + stepWeight * step[row]!);
  return { advantages, episode, step, stepReturns };
}

/**
 * What {@link gigpoAdvantages} found for each step, for logs and viewers. Shape `[B]`.
 *
 * @param states - Text of each step's state.
 */
export function gigpoTraces(
  { groups, anchors }: Pick<GigpoInputs, 'groups' | 'anchors'>,
  states: readonly string[],
  { episode, step, stepReturns }: GigpoResult,
): StepTrace[] {
  const sizes = new Float64Array(groups.length);
  for (const rows of nestedIndices(groups, anchors).flat()) for (const row of rows) sizes[row] = rows.length;
  return states.map((state, row) => ({
    episodeAdvantage: episode[row]!,
    stepAdvantage: step[row]!,
    returnToGo: stepReturns[row]!,
    anchor: { state, steps: sizes[row]! },
  }));
}

function episodeAdvantages(
  { groups, trajectories, episodeScores }: GigpoInputs,
  options: GroupRelativeOptions,
  statistics: 'per-trajectory' | 'step-rows',
): Float64Array {
  if (statistics === 'step-rows') {
    const rows = groupIndices(groups);
    return scatterGroups(rows, groupRelativeAdvantages(gather(rows, episodeScores), options));
  }
  const episodes = nestedIndices(groups, trajectories);
  const advantages = groupRelativeAdvantages(
    episodes.map((group) => group.map(([row]) => episodeScores[row!]!)),
    options,
  );
  return scatterGroups(
    episodes.flat(),
    episodes.flatMap((group, p) => group.map((steps, g) => steps.map(() => advantages[p]![g]!))),
  );
}

/** Rows of every group by a second id, which may repeat from one group to another. Shape `[P][…][…]`. */
function nestedIndices(groups: readonly unknown[], ids: readonly unknown[]): number[][][] {
  return groupIndices(groups).map((rows) =>
    groupIndices(rows.map((row) => ids[row])).map((members) => members.map((member) => rows[member]!)),
  );
}

function gather(indices: readonly (readonly number[])[], values: ArrayLike<number>): number[][] {
  return indices.map((members) => members.map((row) => values[row]!));
}

function requireSteps({ groups, trajectories, anchors, stepRewards, episodeScores }: GigpoInputs): void {
  const lists = { trajectories, anchors, stepRewards, episodeScores };
  for (const [name, { length }] of Object.entries(lists)) {
    if (length === groups.length) continue;
    throw new ArgumentError(
      `gigpoAdvantages: ${name} must have ${groups.length} entries, one per step as groups, got ${length}`,
    );
  }
  requireFinite('gigpoAdvantages', 'stepRewards', stepRewards);
  requireFinite('gigpoAdvantages', 'episodeScores', episodeScores);
}
