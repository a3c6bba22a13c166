import { type RewardComputer, type RewardFunction, type ScoredTrajectory, timerMs } from '@rlp/core';
import * as z from 'zod';
import { rewardFunctions } from '../functions/reward-functions.ts';
import { overPresent, relativeRewards, standardizedRewards } from './normalized.ts';
import { paretoRanks, paretoRewards } from './pareto.ts';

/** Schema of the options that all computers over groups have. */
export const groupMethodSchema = z.strictObject({
  /** Whether rewards are standardised within the group. Default `'none'`. */
  normalize: z.enum(['none', 'population-std']).default('none'),
  /** Front of exact duplicates of a point. Default `'same-front'`. */
  duplicates: z.enum(['same-front', 'next-front']).default('same-front'),
  /** How points of one front are told apart. Default `'none'`. */
  tieBreak: z.enum(['none', 'crowding']).default('none'),
  /** Milliseconds that an objective may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
});

/** Schema of the method, which is the score itself, its standardised rank, or the Pareto front of the point. */
export const methodSchema = z.enum(['absolute', 'relative', 'pareto']);

/** How the objectives of a group become rewards. */
export interface GroupMethodOptions extends z.output<typeof groupMethodSchema> {
  readonly method: z.output<typeof methodSchema>;
}

/** What is judged of each trajectory, and how it is looked at. */
export interface Objectives<Metadata> {
  readonly functions: Readonly<Record<string, RewardFunction<Metadata>>>;
  /** The scalar that `absolute` and `relative` go by. */
  score(values: readonly number[]): number;
  /** What `pareto` goes by, higher is better. */
  point(values: readonly number[]): readonly number[];
}

/** A computer whose components are the objectives. A trajectory without a value for one of them takes no part in the comparison. */
export function groupComputer<Metadata>(
  { functions, score, point }: Objectives<Metadata>,
  options: GroupMethodOptions,
): RewardComputer<Metadata> {
  const parts = Object.fromEntries(Object.entries(functions).map(([name, reward]) => [name, { reward }]));
  return regrouped(rewardFunctions<Metadata>(parts, { timeoutMs: options.timeoutMs }), (scored) => {
    const values = scored.map(({ components }) => complete(Object.keys(functions), components));
    const points = values.map((value) => value && point(value));
    const rewards = {
      absolute: () => values.map((value) => value && score(value)),
      relative: () => relativeRewards(values.map((value) => value && score(value))),
      pareto: () => paretoRewards(points, options),
    }[options.method]();
    const normalized = options.normalize === 'none' ? rewards : standardizedRewards(rewards);
    const fronts =
      options.method === 'pareto' ? overPresent(points, (all) => paretoRanks(all, options)) : undefined;
    return normalized.map((reward, g) => ({
      reward,
      components: fronts === undefined ? {} : { front: fronts[g]! },
    }));
  });
}

/** A computer that scores with another one first and then looks at the whole group. Its components are added. */
export function regrouped<Metadata, Outcome>(
  inner: RewardComputer<Metadata, Outcome>,
  judge: (
    scored: readonly ScoredTrajectory<Metadata, Outcome>[],
  ) => readonly Pick<ScoredTrajectory, 'reward' | 'components'>[],
): RewardComputer<Metadata, Outcome> {
  return {
    ...(inner.prepare && { prepare: inner.prepare }),
    async computeRewards(group, options) {
      const scored = await inner.computeRewards(group, options);
      const judged = judge(scored);
      return scored.map(({ trajectory, components, failures }, g) => ({
        trajectory,
        reward: judged[g]!.reward,
        components: { ...components, ...judged[g]!.components },
        ...(failures && { failures }),
      }));
    },
  };
}

function complete(
  names: readonly string[],
  components: Readonly<Record<string, number | null>>,
): number[] | null {
  const values = names.flatMap((name) => components[name] ?? []);
  return values.length === names.length ? values : null;
}
