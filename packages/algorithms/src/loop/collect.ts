import {
  ArgumentError,
  overlongPenalty,
  RewardError,
  type RewardsFor,
  type ScoredTrajectory,
  type Task,
  type TaskSource,
  type TrajectoryGroup,
  Watchdog,
} from '@rlp/core';
import { hasRewardVariance } from '../advantage/group-relative.ts';
import { isUsable } from '../statistics/token-rows.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { GroupCollector, RlDependencies, ScoredGroup } from './protocol.ts';
import { rewardsOf, sampledTokens } from './trajectory-rows.ts';

/** The groups of an iteration. */
export interface Collection<Metadata = unknown> {
  /** Those to learn from. */
  readonly groups: readonly ScoredGroup<Metadata>[];
  /** All that were collected, those that others replaced included. */
  readonly collected: readonly ScoredGroup<Metadata>[];
  /** How many of them `groupFilter` turned down, where there is one. */
  readonly rejected?: number | undefined;
  /** Tasks taken. */
  readonly taken: number;
  readonly rounds: number;
  /** What the reward computer threw, although it should not. */
  readonly rejection?: unknown;
  /** Reward of the greedy trajectory of each group's task, where asked for. Shape: `[P]`. */
  readonly greedyRewards?: readonly (number | null)[] | undefined;
}

/** What collecting needs to know of the iteration. */
export interface CollectContext {
  readonly options: ResolvedRlOptions;
  readonly iteration: number;
  readonly greedy: 'none' | 'wanted';
  /** Takes a sentence for people who wait. */
  readonly say: (text: string) => void;
}

/**
 * Collects the groups of an iteration, one per task, each scored as soon as it is there. `undefined` when the signal ended
 * it early.
 *
 * Under `zeroVarianceGroups: 'replace'` and with a `groupFilter` further tasks are taken, as many as groups are missing, round by
 * round.
 *
 * @throws RewardError for a wrong number of scores or a reward that is not a finite number, ArgumentError without a task.
 */
export async function collectIteration<Metadata>(
  dependencies: RlDependencies<Metadata>,
  { options, iteration, greedy, say }: CollectContext,
): Promise<Collection<Metadata> | undefined> {
  const { tasks, rollouts, greedyRollouts, groupFilter } = dependencies;
  const { tasksPerIteration, zeroVarianceGroups, collectionRounds } = options;
  const needsVariance = zeroVarianceGroups === 'replace';
  const isReplacing = needsVariance || groupFilter !== undefined;
  const collected: ScoredGroup<Metadata>[] = [];
  const greedyRewards = new Map<string, number | null>();
  const accepted: ScoredGroup<Metadata>[] = [];
  let groups: readonly ScoredGroup<Metadata>[] = [];
  let taken = 0;
  let round = 0;
  let rejection: unknown;
  const watchdog = rewardsWatchdog(dependencies.rewards, options.deadlines, say);
  do {
    const batch = tasksFrom(tasks, tasksPerIteration - groups.length);
    const collectWith = (collector: GroupCollector<Metadata>) =>
      collectScoredGroups({ ...dependencies, rollouts: collector, options, watchdog, say }, batch, {
        iteration,
        round,
      });
    const [scored, scoredGreedy] = await Promise.all([
      collectWith(rollouts),
      greedy === 'wanted' && greedyRollouts ? collectWith(greedyRollouts) : nothing,
    ]);
    if (scored === undefined || scoredGreedy === undefined) return undefined;
    for (const greedyGroup of scoredGreedy.groups)
      greedyRewards.set(greedyGroup.group.id, rewardsOf(greedyGroup)[0] ?? null);
    rejection = scored.rejection ?? scoredGreedy.rejection;
    taken += batch.length;
    round += 1;
    collected.push(...scored.groups);
    accepted.push(...scored.groups.filter((group) => groupFilter?.(group) ?? true));

    groups = needsVariance ? accepted.filter((group) => hasRewardVariance(rewardsOf(group))) : accepted;
    // Further rounds would only use tasks up.
    if (!scored.groups.some(isScored)) break;
  } while (isReplacing && groups.length < tasksPerIteration && round < collectionRounds);
  return {
    groups,
    collected,
    rejection,
    rejected: groupFilter && collected.length - accepted.length,
    taken,
    rounds: round,
    greedyRewards:
      greedy === 'wanted' ? groups.map(({ group }) => greedyRewards.get(group.id) ?? null) : undefined,
  };
}

const nothing: Scored<never> = { groups: [] };

function tasksFrom<Metadata>(source: TaskSource<Metadata>, count: number): readonly Task<Metadata>[] {
  const tasks = source.take(count);
  if (tasks.length > 0) return tasks;
  throw new ArgumentError(
    'runRlTraining: the task source has no task left; take one that begins again, as `taskSource` of @rlp/env does',
  );
}

/** What collects and scores. */
interface Scoring<Metadata> {
  readonly rollouts: GroupCollector<Metadata>;
  readonly rewards: RewardsFor<Metadata>;
  readonly signal?: AbortSignal | undefined;
  readonly options: ResolvedRlOptions;
  readonly watchdog: Watchdog;
  readonly say: (text: string) => void;
}

interface Scored<Metadata> {
  readonly groups: readonly ScoredGroup<Metadata>[];
  readonly rejection?: unknown;
}

/** Failed and aborted trajectories get the reward `null`, whatever the reward computer says. */
async function collectScoredGroups<Metadata>(
  { rollouts, rewards, signal, options, watchdog, say }: Scoring<Metadata>,
  tasks: readonly Task<Metadata>[],
  at: { readonly iteration: number; readonly round: number },
): Promise<Scored<Metadata> | undefined> {
  const pending: Promise<ScoredGroup<Metadata> | { readonly rejection: unknown }>[] = [];
  const given = signal === undefined ? {} : { signal };
  for await (const group of rollouts.collectGroups(tasks, { ...at, signal, onNote: say })) {
    if (signal?.aborted) break;
    const work = Promise.resolve().then(() => rewards.computeRewards(group, given));
    const scoring = watchdog.watch(work, given).then(
      (scored) => ({
        group,
        scored: checkScores(group, scored).map((score) => usable(shaped(score, options))),
      }),
      (rejection: unknown) => ({ rejection: rejection ?? new RewardError('rejected without an error') }),
    );
    scoring.catch(() => undefined); // awaited below
    pending.push(scoring);
  }
  try {
    const results = await Promise.all(pending);
    if (signal?.aborted) return undefined;
    const broken = results.find((result) => 'rejection' in result);
    return { groups: results.filter((result) => 'group' in result), ...broken };
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}

/** Says what the run waits for, and gives up rewards that are late. */
function rewardsWatchdog<Metadata>(
  { waitingFor }: RewardsFor<Metadata>,
  { rewardsMs, noteMs }: ResolvedRlOptions['deadlines'],
  say: (text: string) => void,
): Watchdog {
  return new Watchdog({
    timeoutMs: rewardsMs,
    noteAfterMs: noteMs,
    note(waitedMs) {
      const names = waitingFor?.() ?? [];
      const what = names.length === 0 ? 'the rewards' : `reward ${names.join(', ')}`;
      say(`waiting for ${what} since ${waitedMs / 1000} s`);
    },
  });
}

/** Whether a group has a reward to learn from. */
function isScored<Metadata>({ scored }: ScoredGroup<Metadata>): boolean {
  return scored.some(({ reward }) => reward !== null);
}

function checkScores<Metadata>(
  group: TrajectoryGroup<Metadata>,
  given: readonly ScoredTrajectory[],
): readonly ScoredTrajectory<Metadata>[] {
  // Whatever a computer reads of them, it returns the trajectories that it was given.
  const scored = given as readonly ScoredTrajectory<Metadata>[];
  if (scored.length !== group.trajectories.length) {
    throw new RewardError(
      `group "${group.id}": the reward computer must return one score per trajectory, ` +
        `got ${scored.length} for ${group.trajectories.length}`,
    );
  }
  return scored.map((score: ScoredTrajectory<Metadata> | null, index) => {
    if (typeof score?.trajectory !== 'object') {
      throw new RewardError(
        `group "${group.id}": the reward computer must return { trajectory, reward, components } for each trajectory, ` +
          `got ${String(score)} at ${index}; rewardFunctions of @rlp/rewards makes a reward computer of functions ` +
          'that return numbers',
      );
    }
    const { id, status, steps } = score.trajectory;
    if (status !== 'completed' && status !== 'truncated') return { ...score, reward: null };
    const earned = [score.reward ?? 0, ...steps.map(({ reward }) => reward ?? 0)];
    const wrong = earned.find((reward) => !Number.isFinite(reward));
    if (wrong === undefined) return score;
    throw new RewardError(`trajectory "${id}": the reward must be a finite number or null, got ${wrong}`);
  });
}

/** `null` for a reward beyond 1e100: its square leaves no room for sums, so nothing can be compared with it. */
function usable<Metadata>(score: ScoredTrajectory<Metadata>): ScoredTrajectory<Metadata> {
  const earned = [score.reward ?? 0, ...score.trajectory.steps.map(({ reward }) => reward ?? 0)];
  const huge = earned.find((reward) => !isUsable(reward));
  if (huge === undefined) return score;
  const message = `expected a reward of at most 1e100 in size, got ${huge}`;
  const failure = { source: 'reward', cause: 'not-finite', message } as const;
  return { ...score, reward: null, failures: [...(score.failures ?? []), failure] };
}

/** The reward within its limits, with the penalty for long answers. */
function shaped<Metadata>(
  score: ScoredTrajectory<Metadata>,
  { overlong, rewardClip: { low, high } = { low: -Infinity, high: Infinity } }: ResolvedRlOptions,
): ScoredTrajectory<Metadata> {
  if (score.reward === null) return score;
  const reward = Math.min(high, Math.max(low, score.reward));
  if (overlong === undefined) return { ...score, reward };
  const penalty = overlongPenalty(sampledTokens(score.trajectory), overlong);
  return { ...score, reward: reward + penalty, components: { ...score.components, overlong: penalty } };
}
