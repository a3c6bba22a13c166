import {
  ArgumentError,
  type CallableRewardComputer,
  callableRewards,
  callback,
  parseOptions,
  type RewardComputer,
  type RewardFunction,
  type ScoredTrajectory,
  type TrajectoryGroup,
  timerMs,
} from '@rlp/core';
import * as z from 'zod';
import { clockSchema, hasMethod, judgingAlone } from '../shared/schemas.ts';
import { prepareTrajectory, scoredPart, scoreTrajectories } from './score-trajectories.ts';
import type { RewardFunctionStatistics } from './tally.ts';

/** A part as an object: a function has weight 1, and so have ready-made rewards such as those of `reward` and of judges. */
function partOf(part: unknown): unknown {
  if (typeof part === 'function') return { reward: part };
  const isReady = hasMethod(part, 'computeRewards') || hasMethod(part, 'getStatistics');
  if (!isReady) return part;
  const { reward, weight } = part as { readonly reward?: unknown; readonly weight?: unknown };
  return { reward, ...(weight !== undefined && { weight }) };
}

const partsSchema = z
  .record(
    z.string().min(1),
    z.preprocess(
      partOf,
      z.strictObject(
        {
          reward: callback<RewardFunction<never, never>>(
            'a function of a trajectory. What judges whole groups, such as scoreBatch, cannot be a part',
          ),
          weight: z.number().default(1),
        },
        {
          error: ({ code }) =>
            code === 'invalid_type' ? 'must be a function of a trajectory, or { reward, weight }' : undefined,
        },
      ),
    ),
  )
  .refine((parts) => Object.keys(parts).length > 0, 'expected at least one reward function');

/** Schema of {@link RewardFunctionsOptions}. */
export const rewardFunctionsSchema = z.strictObject({
  /** Milliseconds an asynchronous call may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
  /** Calls of one function in progress at once. Default `Infinity`. */
  concurrency: z.int().positive().or(z.literal(Infinity)).default(Infinity),
  /** Milliseconds since any fixed point, for the statistics. Default `performance.now`. */
  clock: clockSchema,
});

/** One part of a reward. */
export interface RewardPart<Metadata = unknown, Outcome = unknown> {
  readonly reward: RewardFunction<Metadata, Outcome>;
  /** Factor in the sum. `0` only observes: the part is reported and cannot make a trajectory unscorable. Default 1. */
  readonly weight?: number | undefined;
}

/** The parts of a reward by name: functions, or functions with their weights. */
export type RewardParts<Metadata = unknown, Outcome = unknown, Name extends string = string> = {
  readonly [Part in Name]?: RewardFunction<Metadata, Outcome> | RewardPart<Metadata, Outcome>;
};

/** Options of {@link rewardFunctions}. */
export interface RewardFunctionsOptions extends z.input<typeof rewardFunctionsSchema> {}

/** A reward computer that knows how its functions fared. */
export interface FunctionRewardComputer<Metadata = unknown, Outcome = unknown, Name extends string = string>
  extends CallableRewardComputer<Metadata, Outcome> {
  readonly computeRewards: <Given extends Metadata, Ended extends Outcome>(
    group: TrajectoryGroup<Given, Ended>,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<readonly ScoredTrajectory<Given, Ended, Name>[]>;
  /** Counts since it was made, by the name of the function. */
  getStatistics(): Readonly<Record<Name, RewardFunctionStatistics>>;
}

/**
 * A reward that is the weighted sum of named functions:
 *
 *     reward = Σ_k weight_k · component_k
 *
 * Every component stays visible in the result, before weighting. If a function throws, takes longer than `timeoutMs` or returns anything but a finite number or `null`, its component is `null` and
 * the failure is counted. If a part rewards single steps, as `reward` of `@rlp/rewards/authoring` does, the weighted sums are in the steps. A `null` component with a weight makes the reward `null`. Trajectories that failed, were
 * aborted or are pending are not judged: all their components are `null`.
 *
 * Inside a call such as `new GRPOAlgorithm({ tasks, environment, rewards: rewardFunctions({ … }) })` the functions know the metadata of
 * the tasks and the outcome of the environment. On its own, name them if functions are written in place:
 * `rewardFunctions<{ answer: string }>({ … })`.
 */
export function rewardFunctions<Metadata, Outcome = unknown, Name extends string = string>(
  parts: RewardParts<Metadata, Outcome, Name>,
  options: RewardFunctionsOptions = {},
): FunctionRewardComputer<Metadata, Outcome, Name> {
  const weights = parseOptions('rewardFunctions', partsSchema, parts);
  const { timeoutMs, concurrency, clock } = parseOptions('rewardFunctions', rewardFunctionsSchema, options);
  const { weightOf, scaleWeight } = scalableWeights(weights);
  const scored = Object.entries(parts as Readonly<Record<string, RewardFunction | RewardPart>>).map(
    ([name, part]) =>
      scoredPart({ name, reward: typeof part === 'function' ? part : part.reward, timeoutMs, concurrency }),
  );
  const computeRewards: RewardComputer<Metadata, Outcome>['computeRewards'] = (
    { trajectories },
    { signal } = {},
  ) => scoreTrajectories(scored, trajectories, { weightOf: (name) => weightOf.get(name)!, clock, signal });
  const prepare: RewardComputer<Metadata, Outcome>['prepare'] = (trajectory, { signal } = {}) =>
    prepareTrajectory(scored, trajectory, { clock, signal });
  const computer = callableRewards({
    computeRewards,
    prepare,
    scaleWeight,
    waitingFor: () => scored.filter(({ tally }) => tally.waiting > 0).map(({ name }) => name),
    getStatistics: () => Object.fromEntries(scored.map(({ name, tally }) => [name, tally.snapshot()])),
  });
  return judgingAlone(computer) as unknown as FunctionRewardComputer<Metadata, Outcome, Name>;
}

/** A computer as it is, or one of a function. `undefined` for anything else. */
export function rewardComputerOf<Metadata>(
  reward: unknown,
  timeoutMs: number,
): RewardComputer<Metadata> | undefined {
  if (hasMethod(reward, 'computeRewards')) return reward as RewardComputer<Metadata>;
  if (typeof reward !== 'function') return undefined;
  return rewardFunctions({ [reward.name || 'reward']: reward as RewardFunction<Metadata> }, { timeoutMs });
}

/** The weights of parts as they are now, and what scales them. */
export function scalableWeights(parts: RewardParts<never, never>) {
  const given = new Map(
    Object.entries(parts).map(([name, part]) => [name, typeof part === 'object' ? (part.weight ?? 1) : 1]),
  );
  const weightOf = new Map(given);
  const scaleWeight: NonNullable<RewardComputer['scaleWeight']> = (component, factor) => {
    if (!Number.isFinite(factor)) {
      throw new ArgumentError(`scaleWeight: expected a finite factor for "${component}", got ${factor}`);
    }
    const weight = given.get(component);
    if (weight === undefined) return 'unknown component';
    weightOf.set(component, weight * factor);
    return 'scaled';
  };
  return { weightOf, scaleWeight };
}
