import {
  type EvaluateResult,
  evaluateResultSchema,
  type Message,
  promptText,
  RewardError,
  type StepOutput,
  type Trajectory,
  timerMs,
} from '@rlp/core';
import * as z from 'zod';
import type { RewardFunctionStatistics } from '../functions/tally.ts';
import { clockSchema } from '../shared/schemas.ts';

/** Schema of what every authored reward says about itself. */
export const rewardLimitsSchema = z.strictObject({
  /** Name in components, statistics and errors. Required. */
  name: z.string().min(1),
  /** Lowest and highest score you mean to give. Scores outside count, and are reported. Default `[0, 1]`. */
  range: z.tuple([z.number(), z.number()]).readonly().default([0, 1]),
  /** Milliseconds that a call may take. Default 30 000. */
  timeoutMs: timerMs.default(30_000),
  /** Milliseconds since any fixed point. Default `performance.now`. */
  clock: clockSchema,
});

/** What a reward judges. */
export interface RewardInput<Metadata> {
  /** What the policy was asked. Messages as their contents. */
  readonly prompt: string;
  /** Its last answer. */
  readonly response: string;
  /** The whole conversation, for rewards of single steps and of tool use. */
  readonly messages: readonly Message[];
  /** What the task says about itself. */
  readonly metadata: Metadata;
  /** Everything else. */
  readonly trajectory: Trajectory<Metadata>;
}

/** What a reward is told besides its input. */
export interface RewardContext {
  /** Fires when the time is up or the run ends. */
  readonly signal: AbortSignal;
}

/** A judgement as its author may write it. `{ score }` is enough. */
export interface Evaluation
  extends Pick<EvaluateResult, 'score'>,
    Partial<Omit<EvaluateResult, 'score' | 'stepOutputs'>> {
  /** Rewards of single steps. `{ stepIndex, baseReward }` is enough. */
  readonly stepOutputs?:
    | readonly (Pick<StepOutput, 'stepIndex' | 'baseReward'> & Partial<StepOutput>)[]
    | undefined;
}

/** A score, right or wrong (1 or 0), `null` for "cannot tell", or a whole judgement with metrics and step outputs. */
export type Judgement = number | boolean | null | Evaluation;

/** Counts of an authored reward since it was made. */
export interface AuthoredStatistics extends RewardFunctionStatistics {
  /** Scores outside the documented range. */
  readonly outOfRange: number;
  /** Step outputs that named no step, or one twice. */
  readonly misplacedSteps: number;
}

/** The view of a trajectory that rewards are given. */
export function inputOf<Metadata>(trajectory: Trajectory<Metadata>): RewardInput<Metadata> {
  const { task, response, messages } = trajectory;
  return { prompt: promptText(task.prompt), response, messages, metadata: task.metadata, trajectory };
}

/** A judgement whose score is NaN or infinite. */
export class NotFiniteError extends RewardError {}

/**
 * A judgement as an `EvaluateResult`. `null` for "cannot tell".
 *
 * @throws RewardError for what is not a judgement, NotFiniteError for a score that is not finite.
 */
export function evaluationOf(judgement: unknown): EvaluateResult | null {
  if (judgement === null) return null;
  const score = typeof judgement === 'boolean' ? Number(judgement) : judgement;
  const given = typeof score === 'number' ? { score } : score;
  if (typeof given === 'object' && given !== null && 'score' in given && !Number.isFinite(given.score)) {
    throw new NotFiniteError(`expected a finite score, got ${String(given.score)}`);
  }
  const parsed = evaluateResultSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    [...(path.length > 0 ? [path.join('.')] : []), message].join(': '),
  );
  throw new RewardError(`expected a number, true, false, null or { score }: ${problems.join('; ')}`);
}

/** The reward of a judgement. `null` if it says that it is not valid. */
export function scoreOf(result: EvaluateResult | null): number | null {
  return result === null || !result.isScoreValid || result.error !== undefined ? null : result.score;
}
