import { parseOptions, type RewardComputer, type Trajectory } from '@rlp/core';
import * as z from 'zod';
import type { StepRewardFunction } from '../functions/score-trajectories.ts';
import { clockSchema, functionSchema, timerMs } from '../shared/schemas.ts';
import { Desk } from './desk.ts';
import {
  type AuthoredStatistics,
  inputOf,
  type Judgement,
  type RewardContext,
  type RewardInput,
  scoreOf,
} from './judgement.ts';

const fields = z.strictObject({
  /** Name in components, statistics and errors. Required. */
  name: z.string().min(1),
  /** Lowest and highest score you mean to give. Scores outside count, and are reported. Default `[0, 1]`. */
  range: z.tuple([z.number(), z.number()]).readonly().default([0, 1]),
  /** Milliseconds that a call may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
  /** Milliseconds since any fixed point. Default `performance.now`. */
  clock: clockSchema,
});

const schema = fields
  .extend({ score: functionSchema().optional(), scoreBatch: functionSchema().optional() })
  .refine(({ score, scoreBatch }) => (score === undefined) !== (scoreBatch === undefined), {
    path: ['score'],
    message: 'expected either score or scoreBatch',
  })
  .refine(({ range: [lowest, highest] }) => lowest < highest, {
    path: ['range'],
    message: 'must go from the lowest to the highest score',
  });

/** A reward that judges one episode at a time. */
export interface PointwiseRewardDefinition<Metadata> extends z.input<typeof fields> {
  /** Judges an episode. Required. */
  readonly score: (
    input: RewardInput<Metadata>,
    context: RewardContext,
  ) => Judgement | PromiseLike<Judgement>;
}

/** A reward that judges all episodes of a group together. */
export interface BatchRewardDefinition<Metadata> extends z.input<typeof fields> {
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
  const common = { name, range, getStatistics: () => desk.getStatistics() };
  if ('scoreBatch' in definition && definition.scoreBatch !== undefined) {
    const { scoreBatch } = definition;
    return {
      ...common,
      computeRewards: ({ trajectories }, { signal } = {}) =>
        desk.score(trajectories, signal, (shown) =>
          desk.judge(shown.length, signal, (context) => scoreBatch(shown.map(inputOf), context)),
        ),
    };
  }
  const { score } = definition as PointwiseRewardDefinition<Metadata>;
  const judgeOne = (trajectory: Trajectory<Metadata>, signal: AbortSignal | undefined) =>
    desk.judge(1, signal, async (context) => [await score(inputOf(trajectory), context)]);
  const judge: StepRewardFunction<Metadata>['judge'] = async (trajectory, { signal }) => {
    const [judged] = await judgeOne(trajectory, signal);
    const { result, failure } = judged!;
    if (failure !== undefined) throw failure.error;
    const stepRewards = result === null ? undefined : desk.place(trajectory, result).stepRewards;
    return { reward: scoreOf(result), stepRewards };
  };
  const pointwise: PointwiseReward<Metadata> = {
    ...common,
    reward: Object.assign(async (...given: Parameters<typeof judge>) => (await judge(...given)).reward, {
      judge,
    }),
    computeRewards: ({ trajectories }, { signal } = {}) =>
      desk.score(trajectories, signal, async (shown) =>
        (await Promise.all(shown.map((one) => judgeOne(one, signal)))).flat(),
      ),
  };
  return pointwise;
}
