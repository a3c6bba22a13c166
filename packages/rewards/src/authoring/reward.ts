import { callback, parseOptions, type RewardComputer, type Trajectory } from '@rlp/core';
import type * as z from 'zod';
import type { StepRewardFunction } from '../functions/score-trajectories.ts';
import { judgingAlone } from '../shared/schemas.ts';
import { signalOf } from '../shared/signal-of.ts';
import { Desk } from './desk.ts';
import {
  type AuthoredStatistics,
  inputOf,
  type Judgement,
  type RewardContext,
  type RewardInput,
  rewardLimitsSchema,
  scoreOf,
} from './judgement.ts';

const schema = rewardLimitsSchema
  .extend({ score: callback().optional(), scoreBatch: callback().optional() })
  .refine(({ score, scoreBatch }) => (score === undefined) !== (scoreBatch === undefined), {
    path: ['score'],
    message: 'expected either score or scoreBatch',
  })
  .refine(({ range: [lowest, highest] }) => lowest < highest, {
    path: ['range'],
    message: 'must go from the lowest to the highest score',
  });

/** A reward that judges one episode at a time. */
export interface PointwiseRewardDefinition<Metadata> extends z.input<typeof rewardLimitsSchema> {
  /** Judges an episode. Required. */
  readonly score: (
    input: RewardInput<Metadata>,
    context: RewardContext,
  ) => Judgement | PromiseLike<Judgement>;
}

/** A reward that judges all episodes of a group together. */
export interface BatchRewardDefinition<Metadata> extends z.input<typeof rewardLimitsSchema> {
  /** Judges the episodes of a group, with one judgement for each, in order. Required. */
  readonly scoreBatch: (
    inputs: readonly RewardInput<Metadata>[],
    context: RewardContext,
  ) => readonly Judgement[] | PromiseLike<readonly Judgement[]>;
}

/** An authored reward, which is a reward computer with a name, a range and counts. */
export interface BatchReward<Metadata> extends RewardComputer<Metadata> {
  readonly name: string;
  readonly range: readonly [number, number];
  getStatistics(): AuthoredStatistics;
}

/** An authored reward that can also be a part of `rewardFunctions`, which keeps what it gives to single steps. */
export interface PointwiseReward<Metadata> extends BatchReward<Metadata> {
  readonly reward: StepRewardFunction<Metadata>;
}

/**
 * Makes a reward from your function, typed by the tasks' metadata: `reward<{ answer: string }>({ … })` does not compile on tasks without
 * an answer.
 *
 * The function may be asynchronous. If it throws, takes too long, or returns anything but a judgement, the episode is `null` and counted
 * with its cause. Episodes that failed, were aborted or are pending are not judged.
 */
export function reward<Metadata = unknown>(
  definition: PointwiseRewardDefinition<Metadata>,
): PointwiseReward<Metadata>;
export function reward<Metadata = unknown>(
  definition: BatchRewardDefinition<Metadata>,
): BatchReward<Metadata>;
export function reward<Metadata>(
  definition: PointwiseRewardDefinition<Metadata> | BatchRewardDefinition<Metadata>,
): BatchReward<Metadata> {
  const { name, range, timeoutMs, clock } = parseOptions('reward', schema, definition);
  const desk = new Desk({ name, range, timeoutMs, clock });
  const isBatch = 'scoreBatch' in definition && definition.scoreBatch !== undefined;
  const judgeAll = (trajectories: readonly Trajectory<Metadata>[], signal: AbortSignal | undefined) =>
    desk.judge(trajectories, signal, isBatch ? 'one' : 'one each', async (shown, context) => {
      const inputs = shown.map(inputOf);
      return isBatch
        ? definition.scoreBatch(inputs, context)
        : [await (definition as PointwiseRewardDefinition<Metadata>).score(inputs[0]!, context)];
    });
  const computer: BatchReward<Metadata> = {
    name,
    range,
    getStatistics: () => desk.getStatistics(),
    computeRewards: ({ trajectories }, { signal } = {}) =>
      desk.score(trajectories, signal, (shown) => judgeAll(shown, signal)),
  };
  if (isBatch) return computer;
  const judge: StepRewardFunction<Metadata>['judge'] = async (trajectory, context) => {
    const [judged] = await judgeAll([trajectory], signalOf('reward', trajectory, context));
    const { result, failure } = judged!;
    if (failure !== undefined) throw failure.error;
    const stepRewards = result === null ? undefined : desk.place(trajectory, result).stepRewards;
    return { reward: scoreOf(result), stepRewards };
  };
  const call = async (...given: Parameters<typeof judge>) => (await judge(...given)).reward;
  return judgingAlone({ ...computer, reward: Object.assign(call, { judge }) }) as PointwiseReward<Metadata>;
}
