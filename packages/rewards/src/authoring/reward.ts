import {
  type EvaluateResult,
  parseOptions,
  type RewardComputer,
  RewardError,
  type RewardFunction,
  type ScoredTrajectory,
  type Trajectory,
} from '@rlp/core';
import * as z from 'zod';
import { callWithin } from '../functions/call-reward.ts';
import { isJudged } from '../functions/score-trajectories.ts';
import { Tally } from '../functions/tally.ts';
import { clockSchema, functionSchema, timerMs } from '../shared/schemas.ts';
import {
  type AuthoredStatistics,
  evaluationOf,
  inputOf,
  type Judgement,
  judged,
  NotFiniteError,
  type RewardContext,
  type RewardInput,
  scoreOf,
} from './judgement.ts';

const schema = z
  .strictObject({
    name: z.string().min(1),
    score: functionSchema().optional(),
    scoreBatch: functionSchema().optional(),
    range: z.tuple([z.number(), z.number()]).readonly().default([0, 1]),
    timeoutMs: timerMs.default(30_000),
    clock: clockSchema,
  })
  .refine(({ score, scoreBatch }) => (score === undefined) !== (scoreBatch === undefined), {
    path: ['score'],
    message: 'expected either score or scoreBatch',
  })
  .refine(({ range: [lowest, highest] }) => lowest < highest, {
    path: ['range'],
    message: 'must go from the lowest to the highest score',
  });

/** What both kinds of reward have. */
interface RewardDefinition {
  /** Names it in components, statistics and errors. */
  readonly name: string;
  /** The lowest and the highest score it means to give. Others count, and are counted. Default [0, 1]. */
  readonly range?: readonly [number, number] | undefined;
  /** Milliseconds that a call may take. Default 30 000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since any fixed point. Default `performance.now`. */
  readonly clock?: (() => number) | undefined;
}

/** A reward that judges one episode at a time. */
export interface PointwiseRewardDefinition<Metadata> extends RewardDefinition {
  readonly score: (
    input: RewardInput<Metadata>,
    context: RewardContext,
  ) => Judgement | PromiseLike<Judgement>;
}

/** A reward that judges all episodes of a group together: one judgement for each, in order. */
export interface BatchRewardDefinition<Metadata> extends RewardDefinition {
  readonly scoreBatch: (
    inputs: readonly RewardInput<Metadata>[],
    context: RewardContext,
  ) => readonly Judgement[] | PromiseLike<readonly Judgement[]>;
}

/** An authored reward: a reward computer with a name, a range and counts. */
export interface BatchReward<Metadata> extends RewardComputer<Metadata> {
  readonly name: string;
  readonly range: readonly [number, number];
  getStatistics(): AuthoredStatistics;
}

/** An authored reward that can also be a part of `rewardFunctions`, by its `reward`. */
export interface PointwiseReward<Metadata> extends BatchReward<Metadata> {
  readonly reward: RewardFunction<Metadata>;
}

/**
 * A reward of one's own, for tasks whose metadata it says in its type: `reward<{ answer: string }>({ … })` does not compile on tasks
 * without an answer.
 *
 * It may be synchronous or not. Where it throws, takes too long, or gives what is no judgement, the episode is `null`, counted with
 * its cause; no other episode is touched. Episodes that failed, were aborted or are pending are not judged.
 *
 * @throws `OptionsError` naming every problem at once.
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
  const options = parseOptions('reward', schema, definition);
  const desk = new Desk<Metadata>(options);
  const common = { name: options.name, range: options.range, getStatistics: () => desk.getStatistics() };
  if (isOfGroups(definition)) {
    return {
      ...common,
      computeRewards: (group, given) => desk.judgeGroup(definition, group.trajectories, given?.signal),
    };
  }
  const pointwise: PointwiseReward<Metadata> = {
    ...common,
    reward: async (trajectory, { signal }) => scoreOf(await desk.judgeOne(definition, trajectory, signal)),
    computeRewards: async ({ trajectories }, { signal } = {}) => {
      signal?.throwIfAborted();
      return Promise.all(
        trajectories.map(async (trajectory) => {
          const result = isJudged(trajectory)
            ? await desk.judgeOne(definition, trajectory, signal).catch((error: unknown) => {
                signal?.throwIfAborted();
                if (error instanceof RewardError) return null;
                throw error;
              })
            : null;
          return desk.placed(trajectory, result);
        }),
      );
    },
  };
  return pointwise;
}

function isOfGroups<Metadata>(
  definition: PointwiseRewardDefinition<Metadata> | BatchRewardDefinition<Metadata>,
): definition is BatchRewardDefinition<Metadata> {
  return 'scoreBatch' in definition && definition.scoreBatch !== undefined;
}

/** Calls a reward within its limits, and counts. */
class Desk<Metadata> {
  readonly #options: z.output<typeof schema>;
  readonly #tally = new Tally();
  #outOfRange = 0;
  #misplacedSteps = 0;

  constructor(options: z.output<typeof schema>) {
    this.#options = options;
  }

  getStatistics(): AuthoredStatistics {
    return {
      ...this.#tally.snapshot(),
      outOfRange: this.#outOfRange,
      misplacedSteps: this.#misplacedSteps,
    };
  }

  /** Rejects with a `RewardError` where there is no judgement, so that whoever calls counts it too. */
  async judgeOne(
    { score }: PointwiseRewardDefinition<Metadata>,
    trajectory: Trajectory<Metadata>,
    signal: AbortSignal | undefined,
  ): Promise<EvaluateResult | null> {
    let result: EvaluateResult | null = null;
    await this.#call(async (limit) => {
      result = evaluationOf(await score(inputOf(trajectory), { signal: limit }));
    }, signal);
    this.#checkRange(result);
    return result;
  }

  async judgeGroup(
    { scoreBatch }: BatchRewardDefinition<Metadata>,
    trajectories: readonly Trajectory<Metadata>[],
    signal: AbortSignal | undefined,
  ): Promise<readonly ScoredTrajectory<Metadata>[]> {
    signal?.throwIfAborted();
    const shown = trajectories.filter(isJudged);
    const results = new Map<Trajectory<Metadata>, EvaluateResult | null>();
    if (shown.length > 0) {
      await this.#call(async (limit) => {
        const judgements: unknown = await scoreBatch(shown.map(inputOf), { signal: limit });
        if (!Array.isArray(judgements) || judgements.length !== shown.length) {
          const came = Array.isArray(judgements) ? `${judgements.length}` : typeof judgements;
          throw new RewardError(`expected ${shown.length} judgements, got ${came}`);
        }
        for (const [k, trajectory] of shown.entries()) results.set(trajectory, this.#readOne(judgements[k]));
      }, signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        if (!(error instanceof RewardError)) throw error;
        results.clear();
      });
    }
    for (const result of results.values()) this.#checkRange(result);
    return trajectories.map((trajectory) => this.placed(trajectory, results.get(trajectory) ?? null));
  }

  /** One judgement of several: where it is none, that is its episode's trouble alone. */
  #readOne(judgement: unknown): EvaluateResult | null {
    try {
      return evaluationOf(judgement);
    } catch (error) {
      if (!(error instanceof RewardError)) throw error;
      this.#tally.fail({ cause: error instanceof NotFiniteError ? 'not-finite' : 'threw', error });
      return null;
    }
  }

  placed(trajectory: Trajectory<Metadata>, result: EvaluateResult | null): ScoredTrajectory<Metadata> {
    const { scored, problems } = judged(this.#options.name, trajectory, result);
    this.#misplacedSteps += problems.length;
    return scored;
  }

  async #call(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const { name, timeoutMs, clock } = this.#options;
    const begun = clock();
    const verdict = await callWithin(name, (limits) => work(limits.signal).then(() => 0), {
      timeoutMs,
      signal,
    });
    const { failure } = verdict;
    const counted = failure && {
      ...failure,
      cause: failure.error.cause instanceof NotFiniteError ? ('not-finite' as const) : failure.cause,
    };
    this.#tally.add({ value: verdict.value, failure: counted }, clock() - begun);
    if (failure !== undefined) throw failure.error;
  }

  #checkRange(result: EvaluateResult | null): void {
    const score = scoreOf(result);
    const [lowest, highest] = this.#options.range;
    if (score !== null && (score < lowest || score > highest)) this.#outOfRange += 1;
  }
}
