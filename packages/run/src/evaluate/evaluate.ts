import type { GroupCollector } from '@rlp/algorithms';
import {
  ArgumentError,
  type Environment,
  type Evaluation,
  lostCharacters,
  messageOf,
  type RewardFunction,
  type RewardsFor,
  requireArguments,
  type ScoredTrajectory,
  type State,
  type Task,
  type Tokenizer,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import { ConversationEnvironment, SimpleTextEnvironment } from '@rlp/env';
import { type RewardPart, rewardFunctions } from '@rlp/rewards';
import { RolloutManager, type RolloutPolicy } from '@rlp/rollout';
import {
  type EvaluateSettings,
  type MeasuringSettings,
  type ResolvedSettings,
  resolveMeasuring,
  resolveSettings,
} from './options.ts';
import type { ScoredTask } from './scored-task.ts';
import { summary } from './summary.ts';

/** Functions that score responses by name, or a computer such as the one of a training run. */
export type EvaluationRewards<Metadata, Outcome> =
  | RewardsFor<Metadata, Outcome>
  | Readonly<Record<string, RewardFunction<Metadata, Outcome> | RewardPart<Metadata, Outcome>>>;

/** What an evaluation scores, and how. */
interface Scoring<Metadata, Outcome> {
  /** What the policy is asked. Required. */
  readonly tasks: readonly Task<Metadata>[];
  /** Scores the responses. Default: the `score` of the environment's outcome, as the stock environments have it. */
  readonly rewards?: EvaluationRewards<Metadata, Outcome> | undefined;
  /** Answer of a response in comparable form, for maj@k. `undefined` if it has none. Default: no maj@k. */
  readonly answer?: ((response: string) => string | undefined) | undefined;
  /** Called with the responses to each task once they are scored. Default none. */
  readonly onScored?: ((group: readonly ScoredTrajectory[]) => void) | undefined;
  /** Ends the evaluation with its reason. Default none. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link evaluate}. */
export interface EvaluateOptions<Metadata = unknown, Outcome = unknown>
  extends EvaluateSettings,
    Scoring<Metadata, Outcome> {
  /** Policy that answers: a sampler, a tokenizer and, for conversations, a chat renderer. */
  readonly policy: Omit<RolloutPolicy, 'close'>;
  /** World that the policy acts in. By default each task is one question, text or messages. */
  readonly environment?: Environment<State, Metadata, Outcome> | undefined;
}

/** Options of {@link evaluate} if a collector runs the episodes. */
export interface EvaluateCollectedOptions<Metadata = unknown, Outcome = unknown>
  extends MeasuringSettings,
    Scoring<Metadata, Outcome> {
  /** Collects the responses, such as `captureRollouts` of `@rlp/serve/capture`. Its `groupSize` are the samples of a task. */
  readonly rollouts: GroupCollector<Metadata, Outcome>;
}

/**
 * Evaluates a policy on tasks: accuracy with a confidence interval, mean reward and its parts, pass@k, maj@k, categories, lengths.
 * Give a `policy` and perhaps an `environment`, or the collector of your agent as `rollouts`.
 *
 * Sampling is what training does, and scoring too: a `RolloutManager` runs the environment and a reward computer scores. Each
 * task counts the same, however many of its responses were scored. Responses without a score, because an episode or a reward
 * failed, count in no number. The record counts them by cause. Equal seeds and weights give equal records.
 *
 * @throws OptionsError naming every problem at once; ArgumentError without tasks or for two tasks of one id. Rejects with the
 * signal's reason.
 */
export async function evaluate<Metadata, Outcome = unknown>(
  options: EvaluateOptions<Metadata, Outcome> | EvaluateCollectedOptions<Metadata, Outcome>,
): Promise<Evaluation> {
  requireArguments('evaluate', { options: 'object' }, options);
  const { tasks, rewards, answer, onScored, signal, ...given } = options;
  const { settings, collector, policyVersion, tokenizer } = collectionOf<Metadata, Outcome>(given, tasks);
  requireTasks(tasks);
  signal?.throwIfAborted();
  const computer = computerOf(rewards);
  const deadline = deadlineOf(settings.timeoutMs, signal);
  const pending: Promise<ScoredTask>[] = [];
  try {
    const rollouts = collector();
    for await (const group of rollouts.collectGroups(tasks, { iteration: 0, signal: deadline.signal })) {
      pending.push(scored(group, computer, { signal: deadline.signal, onScored }));
    }
    const groups = await Promise.all(pending);
    signal?.throwIfAborted();
    return summary(groups, tasks, {
      settings,
      policyVersion: policyVersion ?? versionOf(groups),
      answer,
      notes: [
        ...(tokenizer === undefined ? [] : [lostCharacters(tasks, tokenizer).note ?? []].flat()),
        ...(rollouts.takeNotes?.() ?? []),
        ...(deadline.isOver() ? [deadlineNote(settings)] : []),
      ],
    });
  } finally {
    deadline.clear();
    await Promise.allSettled(pending);
  }
}

/** How the responses come. */
interface Collection<Metadata, Outcome> {
  readonly settings: ResolvedSettings;
  readonly collector: () => GroupCollector<Metadata, Outcome>;
  /** Absent if only the responses know it. */
  readonly policyVersion?: number | undefined;
  /** Absent if a collector has its own. */
  readonly tokenizer?: Tokenizer | undefined;
}

type Given<Metadata, Outcome> =
  | Omit<EvaluateOptions<Metadata, Outcome>, keyof Scoring<Metadata, Outcome>>
  | Omit<EvaluateCollectedOptions<Metadata, Outcome>, keyof Scoring<Metadata, Outcome>>;

function collectionOf<Metadata, Outcome>(
  given: Given<Metadata, Outcome>,
  tasks: readonly Task<Metadata>[],
): Collection<Metadata, Outcome> {
  if ('rollouts' in given) {
    const { rollouts, ...rest } = given;
    const { groupSize, seed } = rollouts.options;
    if (groupSize === undefined) {
      throw new ArgumentError(
        'evaluate: expected a collector whose options have a groupSize, the responses per task',
      );
    }
    return { settings: resolveMeasuring({ ...rest, samples: groupSize, seed }), collector: () => rollouts };
  }
  const { policy, environment, ...rest } = given;
  const settings = resolveSettings(rest);
  const { sampler, tokenizer, chat } = requirePolicy(policy);
  const { name, samples, k, confidence, metric, correctFrom, category, timeoutMs, ...rollout } = settings;
  const collector = () => {
    const world = environment ?? questionsOf<Metadata, Outcome>(tasks);
    const parts = { environment: world, sampler, tokenizer, chat };
    return new RolloutManager(parts, { ...rollout, groupSize: samples });
  };
  return { settings, collector, policyVersion: sampler.policyVersion, tokenizer };
}

function requirePolicy(policy: Omit<RolloutPolicy, 'close'> | undefined): Omit<RolloutPolicy, 'close'> {
  if (policy?.sampler !== undefined && policy.tokenizer !== undefined) return policy;
  throw new ArgumentError(
    'evaluate: expected policy: { sampler, tokenizer, chat }, or rollouts; of an InferenceModule give ' +
      '{ sampler: module, tokenizer: module.tokenizer, chat: module.renderer }',
  );
}

/** Version of the weights that gave the last response. */
function versionOf(groups: readonly ScoredTask[]): number {
  const steps = groups.flatMap(({ trajectories }) =>
    trajectories.flatMap(({ trajectory }) => trajectory.steps),
  );
  return steps.reduce((last, { policyVersion = 0 }) => Math.max(last, policyVersion), 0);
}

function requireTasks(tasks: readonly Task[]): void {
  if (!Array.isArray(tasks)) {
    throw new ArgumentError('evaluate: expected a list of tasks; of a task source give source.take(100)');
  }
  if (tasks.length === 0) {
    throw new ArgumentError('evaluate: expected at least one task, got none; pass the tasks to evaluate on');
  }
  const ids = new Set<string>();
  for (const { id } of tasks as readonly Task[]) {
    if (ids.has(id)) {
      throw new ArgumentError(`evaluate: two tasks have the id "${id}"; give each its own, or use samples`);
    }
    ids.add(id);
  }
}

/** One question and one response. Prompts of one evaluation are texts or conversations. */
function questionsOf<Metadata, Outcome>(
  tasks: readonly Task<Metadata>[],
): Environment<State, Metadata, Outcome> {
  const isText = tasks.every(({ prompt }) => typeof prompt === 'string');
  const environment = isText
    ? new SimpleTextEnvironment<Metadata>()
    : new ConversationEnvironment<Metadata>();
  return environment as unknown as Environment<State, Metadata, Outcome>;
}

function computerOf<Metadata, Outcome>(
  rewards: EvaluationRewards<Metadata, Outcome> | undefined,
): RewardsFor<Metadata, Outcome> {
  if (rewards === undefined) return rewardFunctions<Metadata, Outcome>({ score: outcomeScore });
  const isComputer = typeof (rewards as Partial<RewardsFor<Metadata>>).computeRewards === 'function';
  if (isComputer) return rewards as RewardsFor<Metadata, Outcome>;
  return rewardFunctions(rewards as Exclude<typeof rewards, RewardsFor<Metadata, Outcome>>);
}

/** The `score` of an outcome. */
function outcomeScore({ outcome }: Trajectory<unknown, unknown>): number {
  const { score } = (outcome ?? {}) as { readonly score?: unknown };
  if (typeof score === 'number') return score;
  throw new ArgumentError(
    'evaluate: the environment gives no outcome with a score; pass rewards, such as { accuracy: mathAnswer({ … }) }',
  );
}

/** Scores a group. A computer that rejects leaves its group without scores. */
async function scored<Metadata, Outcome>(
  group: TrajectoryGroup<Metadata, Outcome>,
  computer: RewardsFor<Metadata, Outcome>,
  { signal, onScored }: Pick<Scoring<Metadata, Outcome>, 'onScored'> & { readonly signal: AbortSignal },
): Promise<ScoredTask> {
  const trajectories = await computer
    .computeRewards(group, { signal })
    .catch((error: unknown): readonly ScoredTrajectory[] => {
      const failure = { source: 'rewards', cause: 'threw' as const, message: messageOf(error) };
      return group.trajectories.map((trajectory) => ({
        trajectory: trajectory as Trajectory,
        reward: null,
        components: {},
        // An aborted call says nothing about the rewards.
        ...(!signal.aborted && { failures: [failure] }),
      }));
    });
  onScored?.(trajectories);
  return { task: group.task as Task, trajectories };
}

function deadlineOf(timeoutMs: number | undefined, signal: AbortSignal | undefined) {
  const deadline = new AbortController();
  const over = () => deadline.abort(new Error('the evaluation ran out of time'));
  const timer = timeoutMs === undefined ? undefined : setTimeout(over, timeoutMs);
  return {
    signal: signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]),
    isOver: () => deadline.signal.aborted,
    clear: () => clearTimeout(timer),
  };
}

function deadlineNote({ timeoutMs }: ResolvedSettings): string {
  return `The evaluation stopped after ${timeoutMs} ms. Missing responses are unscored, and short ones are over-represented.`;
}
