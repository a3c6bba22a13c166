import { ArgumentError, type NamedSchema, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { anchorGroups, anchorSchema } from '../advantage/anchor-groups.ts';
import { gigpoAdvantages, gigpoSchema, gigpoTraces } from '../advantage/gigpo.ts';
import { type GroupRelativeOptions, groupRelativeAdvantages } from '../advantage/group-relative.ts';
import { normalizedThenSummed } from '../advantage/reward-functions.ts';
import { groupRelativeEstimator } from '../loop/estimate.ts';
import type { GroupEstimator, ScoredGroup } from '../loop/protocol.ts';

/**
 * `groupRelativeAdvantages` with some options given and the others open.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function relativeTo(
  options: GroupRelativeOptions,
): (options?: GroupRelativeOptions) => GroupEstimator {
  return (open) => {
    if (Array.isArray(open)) {
      throw new ArgumentError(
        'estimators: expected options, got groups; call the estimator, as in `advantages: estimators.grpo()`',
      );
    }
    const all = { ...options, ...open };
    groupRelativeAdvantages([], all); // checks the options
    return groupRelativeEstimator(all);
  };
}

/** Weights of the reward's named components. */
export interface GdpoOptions extends GroupRelativeOptions {
  /** Weight of each named component of the reward. */
  readonly weights: Readonly<Record<string, number>>;
}

/**
 * GDPO standardises every component of the reward in its group, and their weighted sum over the batch. See `normalizedThenSummed`.
 *
 * A component that a trajectory does not have counts as not scored.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function gdpoEstimator({ weights, ...options }: GdpoOptions): GroupEstimator {
  parseOptions('estimators.gdpo', z.record(z.string(), z.number()), weights);
  groupRelativeAdvantages([], options); // checks the options
  const names = Object.keys(weights);
  return (groups) =>
    normalizedThenSummed(
      groups.map(({ scored }) =>
        scored.map(({ reward, components }) =>
          names.map((name) => (reward === null ? null : (components[name] ?? null))),
        ),
      ),
      Object.values(weights),
      options,
    );
}

const fields = gigpoSchema.extend({
  /** Whether equal or similar `stateKey`s are the same state. See `anchorGroups`. Defaults to equal ones. */
  anchors: anchorSchema.optional(),
  /**
   * Which rewards step returns see. `'last-step'`: steps' own rewards, and the trajectory's reward at the last step, as in the
   * paper. `'episode'`: only steps' own rewards. Default `'last-step'`.
   */
  outcome: z.enum(['last-step', 'episode']).default('last-step'),
});

/** Options of {@link gigpoEstimator}: those of `gigpoAdvantages`, and two more. */
export interface GigpoEstimatorOptions extends z.input<typeof fields> {}

/** {@link GigpoEstimatorOptions} with every default filled in. */
export interface ResolvedGigpoEstimatorOptions extends z.output<typeof fields> {}

/** Schema of {@link GigpoEstimatorOptions}. */
export const gigpoEstimatorSchema: NamedSchema<GigpoEstimatorOptions, ResolvedGigpoEstimatorOptions> = fields;

/**
 * GiGPO compares trajectories with their group, and steps with other steps from the same state.
 *
 * Needs an environment with `stateKey`. The trajectory's reward is its score. Rewards of steps enter step returns.
 *
 * @throws OptionsError for options outside their ranges; the estimator an ArgumentError for a step without `stateKey`.
 */
export function gigpoEstimator(options: GigpoEstimatorOptions = {}): GroupEstimator {
  const { anchors, outcome, ...own } = parseOptions(
    'estimators.gigpo',
    gigpoEstimatorSchema,
    options,
    'GigpoEstimatorOptions',
  );
  return (groups, watch) => {
    const steps = groups.flatMap((group, p) => stepsOf(group, p, outcome));
    const ids = steps.map(({ group }) => group);
    const states = steps.map(({ state }) => state);
    const inputs = {
      groups: ids,
      trajectories: steps.map(({ member }) => member),
      anchors: anchorGroups(states, ids, anchors),
      stepRewards: steps.map(({ reward }) => reward),
      episodeScores: steps.map(({ score }) => score),
    };
    const result = gigpoAdvantages(inputs, own);
    const traces = watch?.onTrace && gigpoTraces(inputs, states, result);
    let at = 0;
    return groups.map(({ scored }) =>
      scored.map((score) => {
        if (score.reward === null) return 0;
        const from = at;
        at += score.trajectory.steps.length;
        if (traces !== undefined) watch?.onTrace?.(score, traces.slice(from, at));
        return Array.from(result.advantages.subarray(from, at));
      }),
    );
  };
}

interface ScoredStep {
  readonly group: number;
  readonly member: number;
  readonly state: string;
  readonly reward: number;
  readonly score: number;
}

/** The steps of a group's scored trajectories, in order. */
function stepsOf(
  { scored }: ScoredGroup,
  group: number,
  outcome: 'last-step' | 'episode',
): readonly ScoredStep[] {
  return scored.flatMap(({ trajectory: { id, steps }, reward: score }, member) => {
    if (score === null) return [];
    return steps.map(({ stateKey: state, reward = 0 }, index) => {
      if (state === undefined) {
        throw new ArgumentError(
          `GiGPO: step ${index} of trajectory "${id}" has no stateKey, so no state can be told to be the same; ` +
            'give the environment a method `stateKey(state)`',
        );
      }
      const isLast = outcome === 'last-step' && index === steps.length - 1;
      return { group, member, state, score, reward: isLast ? reward + score : reward };
    });
  });
}
