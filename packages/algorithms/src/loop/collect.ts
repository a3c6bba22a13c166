import {
  ArgumentError,
  overlongPenalty,
  RewardError,
  type RewardsFor,
  type ScoredTrajectory,
  type Task,
  type TaskSource,
  type TrajectoryGroup,
} from '@rlp/core';
import { hasRewardVariance } from '../advantage/group-relative.ts';
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
  /** Reward of the greedy trajectory of each group's task, where asked for. Shape: `[P]`. */
  readonly greedyRewards?: readonly (number | null)[] | undefined;
}

/** What collecting needs to know of the iteration. */
export interface CollectContext {
  readonly options: ResolvedRlOptions;
  readonly iteration: number;
  readonly greedy: 'none' | 'wanted';
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
  { options, iteration, greedy }: CollectContext,
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
  do {
    const batch = tasksFrom(tasks, tasksPerIteration - groups.length);
    const collectWith = (collector: GroupCollector<Metadata>) =>
      collectScoredGroups({ ...dependencies, rollouts: collector, options }, batch, { iteration, round });
    const [scored, scoredGreedy] = await Promise.all([
      collectWith(rollouts),
      greedy === 'wanted' && greedyRollouts ? collectWith(greedyRollouts) : [],
    ]);
    if (scored === undefined || scoredGreedy === undefined) return undefined;
    for (const greedyGroup of scoredGreedy)
      greedyRewards.set(greedyGroup.group.id, rewardsOf(greedyGroup)[0] ?? null);
    taken += batch.length;
    round += 1;
    collected.push(...scored);
    accepted.push(...scored.filter((group) => groupFilter?.(group) ?? true));
    groups = needsVariance ? accepted.filter((group) => hasRewardVariance(rewardsOf(group))) : accepted;
  } while (isReplacing && groups.length < tasksPerIteration && round < collectionRounds);
  return {
    groups,
    collected,
    rejected: groupFilter && collected.length - accepted.length,
    taken,
    rounds: round,
    greedyRewards:
      greedy === 'wanted' ? groups.map(({ group }) => greedyRewards.get(group.id) ?? null) : undefined,
  };
}

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
}

/** Failed and aborted trajectories get the reward `null`, whatever the reward computer says. */
async function collectScoredGroups<Metadata>(
  { rollouts, rewards, signal, options }: Scoring<Metadata>,
  tasks: readonly Task<Metadata>[],
  at: { readonly iteration: number; readonly round: number },
): Promise<readonly ScoredGroup<Metadata>[] | undefined> {
  const pending: Promise<ScoredGroup<Metadata>>[] = [];
  for await (const group of rollouts.collectGroups(tasks, { ...at, signal })) {
    if (signal?.aborted) break;
    const scoring = rewards.computeRewards(group, signal === undefined ? {} : { signal }).then((scored) => ({
      group,
      scored: checkScores(group, scored).map((score) => shaped(score, options)),
    }));
    scoring.catch(() => undefined); // awaited below
    pending.push(scoring);
  }
  try {
    const groups = await Promise.all(pending);
    return signal?.aborted ? undefined : groups;
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
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
