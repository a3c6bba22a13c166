import {
  having,
  longestTimerMs,
  messageOf,
  parseOptions,
  type RewardComputer,
  RewardError,
  requireFields,
  type Trajectory,
  timerMs,
} from '@rlp/core';
import type { Sandbox, SandboxFailureCause } from '@rlp/sandbox';
import * as z from 'zod';
import { Desk } from './desk.ts';
import type { AuthoredStatistics } from './judgement.ts';

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
  sandbox: having<Pick<Sandbox, 'call'>>('call', 'a sandbox'),
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

/** Counts of {@link sandboxedRewards}. The code is called once per trajectory, or once per group. */
export interface SandboxedRewardsStatistics extends AuthoredStatistics {
  /** Calls that the sandbox ended, by cause. `ground-truth`: trajectories not shown, because `groundTruth` threw or gave no JSON. */
  readonly causes: Readonly<Partial<Record<SandboxFailureCause | 'ground-truth', number>>>;
}

/** Rewards by code in a sandbox, with its counts. */
export interface SandboxedRewards<Metadata = unknown> extends RewardComputer<Metadata> {
  getStatistics(): SandboxedRewardsStatistics;
}

/**
 * Rewards by code that is not trusted. Its arguments and judgements travel as JSON. If a call fails, its trajectories are `null` and
 * counted with the cause. Step outputs become `Step.reward`. Only completed and truncated trajectories are shown to it.
 */
export function sandboxedRewards<Metadata = unknown>(
  options: SandboxedRewardsOptions<Metadata>,
): SandboxedRewards<Metadata> {
  requireFields('sandboxedRewards', { sandbox: 'object', code: 'text' }, options);
  const { groundTruth = (metadata) => metadata, ...rest } = options;
  const { sandbox, code, mode, parameters, timeoutMs } = parseOptions('sandboxedRewards', schema, rest);
  const desk = new Desk({
    ...{ name: 'sandboxed', range: [-Infinity, Infinity], timeoutMs: longestTimerMs },
    clock: () => performance.now(),
  });
  const causes: Partial<Record<SandboxFailureCause | 'ground-truth', number>> = {};
  const failed = (cause: keyof typeof causes, message: string) => {
    causes[cause] = (causes[cause] ?? 0) + 1;
    return new RewardError(message);
  };
  const truthOf = ({ id, task }: Trajectory<Metadata>): unknown => {
    try {
      const truth = groundTruth(task.metadata) ?? null;
      JSON.stringify(truth); // The sandbox would refuse the whole call.
      return truth;
    } catch (error) {
      return failed('ground-truth', `ground truth of ${id}: ${messageOf(error)}`);
    }
  };
  const run = async (shown: readonly Shown[], { signal }: { readonly signal: AbortSignal }) => {
    const [messages, truths] = [shown.map((one) => one.messages), shown.map(({ truth }) => truth)];
    const args = mode === 'batch' ? [messages, truths] : [messages[0], truths[0]];
    const outcome = await sandbox.call(code, [...args, parameters], { timeoutMs, signal });
    if (outcome.kind !== 'value') throw failed(outcome.cause, outcome.message);
    return mode === 'batch' ? outcome.value : [outcome.value];
  };
  const judge = async (trajectories: readonly Trajectory<Metadata>[], signal: AbortSignal | undefined) => {
    const truths = trajectories.map(truthOf);
    const shown = trajectories.flatMap(({ messages }, k) =>
      truths[k] instanceof RewardError ? [] : [{ messages, truth: truths[k] }],
    );
    const judged = await desk.judge(shown, signal, mode === 'batch' ? 'one' : 'one each', run);
    let next = 0;
    return truths.map((truth) => (truth instanceof RewardError ? desk.failed(truth) : judged[next++]!));
  };
  return {
    computeRewards: ({ trajectories }, { signal } = {}) =>
      desk.score(trajectories, signal, (shown) => judge(shown, signal)),
    getStatistics: () => ({ ...desk.getStatistics(), causes: { ...causes } }),
  };
}

/** What the code sees of a trajectory. */
interface Shown {
  readonly messages: Trajectory['messages'];
  readonly truth: unknown;
}
