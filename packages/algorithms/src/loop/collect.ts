import { ArgumentError, type Task, type TaskSource, type Trajectory, type TrajectoryGroup } from '@rlp/core';
import { hasRewardVariance } from '../advantage/group-relative.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { GroupCollector, RlDependencies, ScoredGroup } from './protocol.ts';
import type { SamplingGate } from './sampling-gate.ts';
import { collectScoredGroups, rewardsWatchdog, type Scored } from './score-groups.ts';
import { rewardsOf } from './trajectory-rows.ts';

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
  /** Reward of the greedy trajectory of each group's task, where asked for. Shape `[P]`. */
  readonly greedyRewards?: readonly (number | null)[] | undefined;
}

/** What is kept of a collection that may be interrupted, and what it goes on from. */
interface Carrying {
  /** Groups that were collected, by their ids, whatever became of them. */
  readonly gathered: Map<string, TrajectoryGroup>;
  /** Episodes that go on. Default none. */
  readonly unfinished?: readonly Trajectory[] | undefined;
}

/** What collecting needs to know of the iteration. */
export interface CollectContext extends Carrying {
  readonly options: ResolvedRlOptions;
  readonly iteration: number;
  readonly greedy: 'none' | 'wanted';
  /** Takes a sentence for people who wait. */
  readonly say: (text: string) => void;
  /** Lets groups be sampled only while weights stay. */
  readonly gate: SamplingGate;
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
  context: CollectContext,
): Promise<Collection<Metadata> | undefined> {
  const { options, iteration, greedy, say, gate, gathered, unfinished } = context;
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
  const shared = { options, watchdog, say, gate };
  do {
    const batch = tasksFrom(tasks, tasksPerIteration - groups.length);
    const collectWith = (collector: GroupCollector<Metadata>, carrying?: Carrying) =>
      collectScoredGroups({ ...dependencies, ...shared, rollouts: collector, ...carrying }, batch, {
        iteration,
        round,
      });
    const [scored, scoredGreedy] = await Promise.all([
      collectWith(rollouts, { gathered, unfinished }),
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

/** Whether a group has a reward to learn from. */
export function isScored<Metadata>({ scored }: ScoredGroup<Metadata>): boolean {
  return scored.some(({ reward }) => reward !== null);
}
