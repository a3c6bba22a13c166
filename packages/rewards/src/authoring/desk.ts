import {
  type EvaluateResult,
  RewardError,
  type ScoredTrajectory,
  scoreFromEvaluateResult,
  type Trajectory,
} from '@rlp/core';
import type * as z from 'zod';
import { callWithin, type Verdict } from '../functions/call-reward.ts';
import { isJudged, unscored } from '../functions/score-trajectories.ts';
import { Tally } from '../functions/tally.ts';
import {
  type AuthoredStatistics,
  evaluationOf,
  NotFiniteError,
  type RewardContext,
  type rewardLimitsSchema,
  scoreOf,
} from './judgement.ts';

/** Judgement of a trajectory, or why it has none. */
interface Judged {
  readonly result: EvaluateResult | null;
  readonly failure?: Verdict['failure'];
}

/** One judgement for each item, in order. */
type JudgeItems<Item> = (items: readonly Item[], context: RewardContext) => unknown;

/** Calls an authored reward within its limits, and counts. */
export class Desk {
  readonly #options: z.output<typeof rewardLimitsSchema>;
  readonly #tally = new Tally();
  readonly #counts = { outOfRange: 0, misplacedSteps: 0 };

  constructor(options: z.output<typeof rewardLimitsSchema>) {
    this.#options = options;
  }

  getStatistics(): AuthoredStatistics {
    return { ...this.#tally.snapshot(), ...this.#counts };
  }

  /** Judgements of items, each by a separate call or all by one. Rejects only with the signal's reason. */
  async judge<Item>(
    items: readonly Item[],
    signal: AbortSignal | undefined,
    calls: 'one each' | 'one',
    judge: JudgeItems<Item>,
  ): Promise<readonly Judged[]> {
    if (items.length === 0) return [];
    if (calls === 'one') return this.#call(items, signal, judge);
    return (await Promise.all(items.map((item) => this.#call([item], signal, judge)))).flat();
  }

  async #call<Item>(
    items: readonly Item[],
    signal: AbortSignal | undefined,
    judge: JudgeItems<Item>,
  ): Promise<readonly Judged[]> {
    const { name, timeoutMs, clock } = this.#options;
    let judgements: readonly unknown[] = [];
    const work = async (context: RewardContext) => {
      judgements = listOf(items.length, await judge(items, context));
      return 0;
    };
    const { failure } = await this.#tally.count(clock, () => callWithin(name, work, { timeoutMs, signal }));
    if (failure !== undefined) return items.map(() => ({ result: null, failure }));
    return judgements.map((judgement) => this.#read(judgement));
  }

  /** The judgement of what could not be judged because of `error`. Counted. */
  failed(error: RewardError): Judged {
    const named = new RewardError(`reward "${this.#options.name}": ${error.message}`, { cause: error });
    const cause = error instanceof NotFiniteError ? ('not-finite' as const) : ('threw' as const);
    const failure = { cause, error: named };
    this.#tally.fail(failure);
    return { result: null, failure };
  }

  /** Trajectories with their judgements. Those that are not to be judged are `null`. */
  async score<Metadata>(
    trajectories: readonly Trajectory<Metadata>[],
    signal: AbortSignal | undefined,
    judge: (shown: readonly Trajectory<Metadata>[]) => Promise<readonly Judged[]>,
  ): Promise<readonly ScoredTrajectory<Metadata>[]> {
    signal?.throwIfAborted();
    const shown = trajectories.filter(isJudged);
    const judged = await judge(shown);
    const judgedOf = new Map(shown.map((trajectory, k) => [trajectory, judged[k]]));
    return trajectories.map((trajectory) => this.#placed(trajectory, judgedOf.get(trajectory)));
  }

  /** One judgement of several. If it cannot be read, only its episode has no reward. */
  #read(judgement: unknown): Judged {
    try {
      const result = evaluationOf(judgement);
      const score = scoreOf(result);
      const [lowest, highest] = this.#options.range;
      if (score !== null && (score < lowest || score > highest)) this.#counts.outOfRange += 1;
      return { result };
    } catch (error) {
      if (!(error instanceof RewardError)) throw error;
      return this.failed(error);
    }
  }

  /** Puts a judgement at its steps. Those without a step are counted. */
  place<Metadata>(trajectory: Trajectory<Metadata>, result: EvaluateResult) {
    const placed = scoreFromEvaluateResult(trajectory, result);
    this.#counts.misplacedSteps += placed.problems.length;
    return placed;
  }

  #placed<Metadata>(
    trajectory: Trajectory<Metadata>,
    { result, failure }: Judged = { result: null },
  ): ScoredTrajectory<Metadata> {
    const { name } = this.#options;
    if (result === null) {
      const nothing = unscored(trajectory, [name]);
      if (failure === undefined) return nothing;
      const { cause, error } = failure;
      return { ...nothing, failures: [{ source: name, cause, message: error.message }] };
    }
    const { scored } = this.place(trajectory, result);
    return { ...scored, components: { ...scored.components, [name]: scored.reward } };
  }
}

function listOf(count: number, judgements: unknown): readonly unknown[] {
  if (Array.isArray(judgements) && judgements.length === count) return judgements;
  const came = Array.isArray(judgements) ? `${judgements.length}` : typeof judgements;
  throw new RewardError(`expected ${count} judgements, got ${came}`);
}
