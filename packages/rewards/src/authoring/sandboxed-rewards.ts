import {
  messageOf,
  parseOptions,
  type RewardComputer,
  RewardError,
  type ScoredTrajectory,
  scoreFromEvaluateResult,
  type Trajectory,
} from '@rlp/core';
import type { Sandbox, SandboxFailureCause } from '@rlp/sandbox';
import * as z from 'zod';
import { isJudged } from '../functions/score-trajectories.ts';
import { timerMs, withMethod } from '../shared/schemas.ts';
import { evaluationOf } from './judgement.ts';

const isJson = (value: unknown) => {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
};

const schema = z.strictObject({
  /** Sandbox that runs the code. Required. */
  sandbox: withMethod<Pick<Sandbox, 'call'>>('call', 'must be a sandbox'),
  /**
   * Expression that gives a function, or a module whose default export is one: `(messages, groundTruth, parameters)`, or with
   * `mode: 'batch'` `(conversations, groundTruths, parameters)`. It returns a judgement, or one for each conversation: a number, `true` or
   * `false`, `null`, or an `EvaluateResult` such as `{ score, isScoreValid, reason, metrics, stepOutputs }`. Required.
   */
  code: z.string().min(1),
  /** Whether the code judges one conversation or a whole group. Default `'pointwise'`. */
  mode: z.enum(['pointwise', 'batch']).default('pointwise'),
  /** Passed on as the third argument. Default `{}`. */
  parameters: z.record(z.string(), z.unknown()).refine(isJson, 'must be JSON data').default({}),
  /** Milliseconds of one call. Default: the sandbox's. */
  timeoutMs: timerMs.optional(),
});

/** Options of {@link sandboxedRewards}. */
export interface SandboxedRewardsOptions<Metadata> extends z.input<typeof schema> {
  /** What the code learns about the task, from its metadata. Default: all of it. */
  readonly groundTruth?: ((metadata: Metadata) => unknown) | undefined;
}

type FailureCause = SandboxFailureCause | 'judgement' | 'ground-truth';

/** Counts of {@link sandboxedRewards}. */
export interface SandboxedRewardsStatistics {
  /** Calls of the code: one per trajectory, or one per group. */
  readonly calls: number;
  /**
   * Calls that failed, by cause; `judgement`: the answer was not a judgement per conversation; `ground-truth`: `groundTruth` threw or
   * returned something that is not JSON, so that there was no call.
   */
  readonly failures: Readonly<Partial<Record<FailureCause, number>>>;
  readonly lastFailure: string | undefined;
  /** Step outputs that named no step. */
  readonly misplacedSteps: number;
}

/** Rewards by code in a sandbox, with its counts. */
export interface SandboxedRewards<Metadata = unknown> extends RewardComputer<Metadata> {
  getStatistics(): SandboxedRewardsStatistics;
}

/**
 * Rewards by code that is not trusted. Its arguments and judgements travel as JSON. A call that fails, whatever the cause, makes its
 * trajectories `null`, and is counted; step outputs become `Step.reward`. Only completed and truncated trajectories are shown to it.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export function sandboxedRewards<Metadata = unknown>(
  options: SandboxedRewardsOptions<Metadata>,
): SandboxedRewards<Metadata> {
  const judge = new SandboxJudge(options);
  return {
    async computeRewards({ trajectories }, { signal } = {}) {
      signal?.throwIfAborted();
      const judgementOf = await judge.judgeAll(trajectories.filter(isJudged), signal);
      return trajectories.map((trajectory) => judge.placed(trajectory, judgementOf.get(trajectory)));
    },
    getStatistics: () => judge.getStatistics(),
  };
}

/** A trajectory, with what the code is told about its task. */
interface Shown<Metadata> {
  readonly trajectory: Trajectory<Metadata>;
  readonly truth: unknown;
}

class SandboxJudge<Metadata> {
  readonly #options: z.output<typeof schema>;
  readonly #truthOf: (metadata: Metadata) => unknown;
  readonly #counts = { calls: 0, misplacedSteps: 0 };
  readonly #failures: Partial<Record<FailureCause, number>> = {};
  #lastFailure: string | undefined;

  constructor({ groundTruth = (metadata) => metadata, ...options }: SandboxedRewardsOptions<Metadata>) {
    this.#options = parseOptions('sandboxedRewards', schema, options);
    this.#truthOf = groundTruth;
  }

  getStatistics(): SandboxedRewardsStatistics {
    return { ...this.#counts, failures: { ...this.#failures }, lastFailure: this.#lastFailure };
  }

  /** What the code says about each trajectory; nothing about those that could not be shown. */
  async judgeAll(
    trajectories: readonly Trajectory<Metadata>[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<Trajectory<Metadata>, unknown>> {
    const shown = trajectories.flatMap((trajectory) => this.#shown(trajectory) ?? []);
    const judgements =
      this.#options.mode === 'batch'
        ? await this.#judgeTogether(shown, signal)
        : await Promise.all(
            shown.map(({ trajectory, truth }) => this.#call(trajectory.messages, truth, signal)),
          );
    return new Map(shown.map(({ trajectory }, k) => [trajectory, judgements[k]]));
  }

  #shown(trajectory: Trajectory<Metadata>): Shown<Metadata> | undefined {
    try {
      const truth = this.#truthOf(trajectory.task.metadata) ?? null;
      // What is no JSON would be refused with the whole call.
      JSON.stringify(truth);
      return { trajectory, truth };
    } catch (error) {
      this.#fail('ground-truth', `${trajectory.id}: ${messageOf(error)}`);
      return undefined;
    }
  }

  async #judgeTogether(
    shown: readonly Shown<Metadata>[],
    signal: AbortSignal | undefined,
  ): Promise<readonly unknown[]> {
    if (shown.length === 0) return [];
    const conversations = shown.map(({ trajectory }) => trajectory.messages);
    const truths = shown.map(({ truth }) => truth);
    const judgements = await this.#call(conversations, truths, signal);
    if (judgements === undefined) return [];
    if (Array.isArray(judgements) && judgements.length === shown.length) return judgements;
    const came = Array.isArray(judgements) ? `${judgements.length}` : typeof judgements;
    this.#fail('judgement', `expected ${shown.length} judgements, got ${came}`);
    return [];
  }

  /** A trajectory with its judgement, its steps included. */
  placed(trajectory: Trajectory<Metadata>, judgement: unknown): ScoredTrajectory<Metadata> {
    const unscored = { trajectory, reward: null, components: {} };
    if (judgement === undefined) return unscored;
    try {
      const result = evaluationOf(judgement);
      if (result === null) return unscored;
      const { scored, problems } = scoreFromEvaluateResult(trajectory, result);
      this.#counts.misplacedSteps += problems.length;
      return scored;
    } catch (error) {
      if (!(error instanceof RewardError)) throw error;
      this.#fail('judgement', error.message);
      return unscored;
    }
  }

  async #call(messages: unknown, truth: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const { sandbox, code, parameters, timeoutMs } = this.#options;
    this.#counts.calls += 1;
    const outcome = await sandbox.call(code, [messages, truth, parameters], { timeoutMs, signal });
    if (outcome.kind === 'value') return outcome.value;
    this.#fail(outcome.cause, outcome.message);
    return undefined;
  }

  #fail(cause: FailureCause, message: string): void {
    this.#failures[cause] = (this.#failures[cause] ?? 0) + 1;
    this.#lastFailure = message;
  }
}
