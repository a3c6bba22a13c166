import {
  type EvaluateResult,
  evaluateResultSchema,
  parseOptions,
  type RewardComputer,
  type ScoredTrajectory,
  scoreFromEvaluateResult,
  type Trajectory,
} from '@rlp/core';
import { z } from 'zod';
import { callReward } from '../call-reward.ts';
import { timerMs } from '../timer.ts';

const schema = z.strictObject({
  timeoutMs: timerMs.default(30_000),
});

/** Options of {@link evaluationRewardComputer}: `timeoutMs` (30 000), how long one judgement may take. */
export type EvaluationRewardOptions = z.input<typeof schema>;

/** A judgement as its author may write it: `{ score }` is enough. */
export type Evaluation = Pick<EvaluateResult, 'score'> & Partial<EvaluateResult>;

/** Judges one episode, with its steps where it can. */
export type Evaluate<Metadata = unknown> = (
  trajectory: Trajectory<Metadata>,
  context: { readonly signal: AbortSignal },
) => Evaluation | Promise<Evaluation>;

/** A computer that knows what went wrong. */
export interface EvaluationRewardComputer<Metadata = unknown> extends RewardComputer<Metadata> {
  /**
   * Since it was made: judgements asked for, those that failed (threw, hung, gave no `EvaluateResult`) and the last reason, and
   * step outputs that named no step, with the last one.
   */
  getStatistics(): {
    readonly evaluated: number;
    readonly failed: number;
    readonly lastFailure: string | undefined;
    readonly misplacedSteps: number;
    readonly lastMisplacedStep: string | undefined;
  };
}

/**
 * Rewards from whole judgements: the score becomes the reward, metrics its components, and each step output the
 * `Step.reward` of the step it names ({@link scoreFromEvaluateResult}), so the trajectories returned carry rewards per step.
 *
 * A judgement that is not valid, that failed or took too long gives `null`. Trajectories that failed, were aborted or are
 * pending are not judged.
 *
 * @throws `OptionsError` for options that are wrong.
 */
export function evaluationRewardComputer<Metadata>(
  evaluate: Evaluate<Metadata>,
  options: EvaluationRewardOptions = {},
): EvaluationRewardComputer<Metadata> {
  const { timeoutMs } = parseOptions('evaluationRewardComputer', schema, options);
  const counts = { evaluated: 0, failed: 0, misplacedSteps: 0 };
  let lastFailure: string | undefined;
  let lastMisplacedStep: string | undefined;
  const score = async (
    trajectory: Trajectory<Metadata>,
    signal: AbortSignal | undefined,
  ): Promise<ScoredTrajectory<Metadata>> => {
    const unscored = { trajectory, reward: null, components: {} };
    if (trajectory.status !== 'completed' && trajectory.status !== 'truncated') return unscored;
    counts.evaluated += 1;
    let result: EvaluateResult | undefined;
    const read = async (judged: Trajectory<Metadata>, context: { readonly signal: AbortSignal }) => {
      result = evaluateResultSchema.parse(await evaluate(judged, context));
      return result.score;
    };
    const { failure } = await callReward('evaluate', read, trajectory, { timeoutMs, signal });
    if (failure !== undefined || result === undefined) {
      counts.failed += 1;
      lastFailure = failure?.error.message;
      return unscored;
    }
    const { scored, problems } = scoreFromEvaluateResult(trajectory, result);
    counts.misplacedSteps += problems.length;
    lastMisplacedStep = problems.at(-1) ?? lastMisplacedStep;
    return scored;
  };
  return {
    async computeRewards({ trajectories }, { signal } = {}) {
      signal?.throwIfAborted();
      return Promise.all(trajectories.map((trajectory) => score(trajectory, signal)));
    },
    getStatistics: () => ({ ...counts, lastFailure, lastMisplacedStep }),
  };
}
