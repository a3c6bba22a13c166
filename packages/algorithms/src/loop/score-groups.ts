import {
  described,
  overlongPenalty,
  RewardError,
  type RewardsFor,
  type ScoredTrajectory,
  type Task,
  type Trajectory,
  type TrajectoryGroup,
  Watchdog,
} from '@rlp/core';
import { isUsable } from '../statistics/token-rows.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { GroupCollector, ScoredGroup } from './protocol.ts';
import type { SamplingGate } from './sampling-gate.ts';
import { sampledTokens } from './trajectory-rows.ts';

/** What collects and scores. */
interface Scoring<Metadata> {
  readonly rollouts: GroupCollector<Metadata>;
  readonly rewards: RewardsFor<Metadata>;
  readonly signal?: AbortSignal | undefined;
  readonly options: ResolvedRlOptions;
  readonly watchdog: Watchdog;
  readonly say: (text: string) => void;
  readonly gate: SamplingGate;
  readonly gathered?: Map<string, TrajectoryGroup> | undefined;
  readonly unfinished?: readonly Trajectory[] | undefined;
}

/** The groups that were scored. */
export interface Scored<Metadata> {
  readonly groups: readonly ScoredGroup<Metadata>[];
  readonly rejection?: unknown;
}

type Verdict<Metadata> = ScoredGroup<Metadata> | { readonly rejection: unknown };

/**
 * Collects a group per task and scores them, in the order of the tasks. `undefined` once the signal fired.
 *
 * Rewards that look at one trajectory begin when its episode ends, those that compare when its group does, if the collector tells of
 * both. Failed and aborted trajectories get the reward `null`, whatever the reward computer says.
 */
export async function collectScoredGroups<Metadata>(
  scoring: Scoring<Metadata>,
  tasks: readonly Task<Metadata>[],
  at: { readonly iteration: number; readonly round: number },
): Promise<Scored<Metadata> | undefined> {
  const { rollouts, rewards, signal, gate, gathered } = scoring;
  const verdicts = new Map<TrajectoryGroup<Metadata>, Promise<Verdict<Metadata>>>();
  const judge = (group: TrajectoryGroup<Metadata>) => {
    if (verdicts.has(group) || signal?.aborted) return;
    verdicts.set(group, scoredGroup(group, scoring));
  };
  const given = signal === undefined ? {} : { signal };
  const early = rollouts.tellsEarly && {
    onEnded: (trajectory: Trajectory<Metadata>) => prepare(rewards, trajectory, given),
    onGroup: judge,
    unfinished: scoring.unfinished as readonly Trajectory<Metadata>[] | undefined,
  };
  const groups: TrajectoryGroup<Metadata>[] = [];
  const leave = await gate.enter(signal);
  try {
    for await (const group of rollouts.collectGroups(tasks, {
      ...at,
      signal,
      onNote: scoring.say,
      ...early,
    })) {
      gathered?.set(group.id, group);
      // A collector that goes on from episodes gives what it has once aborted. Others need not be waited for.
      if (signal?.aborted && !rollouts.tellsEarly) break;
      judge(group);
      groups.push(group);
    }
  } finally {
    leave();
  }
  try {
    const results = await Promise.all(groups.map((group) => verdicts.get(group)));
    if (signal?.aborted) return undefined;
    const broken = results.find((result) => result !== undefined && 'rejection' in result);
    return { groups: results.filter((result) => result !== undefined && 'group' in result), ...broken };
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}

function prepare<Metadata>(
  rewards: RewardsFor<Metadata>,
  trajectory: Trajectory<Metadata>,
  given: { readonly signal?: AbortSignal },
): void {
  try {
    rewards.prepare?.(trajectory, given);
  } catch {
    // Whatever is wrong, `computeRewards` will say it of the whole group.
  }
}

/** A group with its rewards, or what the reward computer threw. Rejects once aborted, and for rewards that are not numbers. */
function scoredGroup<Metadata>(
  group: TrajectoryGroup<Metadata>,
  { rewards, rollouts, signal, watchdog, options }: Scoring<Metadata>,
): Promise<Verdict<Metadata>> {
  const given = signal === undefined ? {} : { signal };
  const work = Promise.resolve().then(() => rewards.computeRewards(group, given));
  const verdict = watchdog.watch(work, given).then(
    (all) => {
      const scored = checkScores(group, all).map((score) => usable(shaped(score, options)));
      for (const score of scored) tell(rollouts, score);
      return { group, scored };
    },
    (rejection: unknown) => ({ rejection: rejection ?? new RewardError('rejected without an error') }),
  );
  verdict.catch(() => undefined); // awaited with the other groups
  return verdict;
}

function tell<Metadata>(
  rollouts: GroupCollector<Metadata>,
  { trajectory, reward, components, failures }: ScoredTrajectory<Metadata>,
): void {
  const { id: episode, task } = trajectory;
  const given = { reward, components, ...(failures && { failures }) };
  rollouts.tell?.({ type: 'reward-given', episode, task: task.id, trajectory, ...given });
}

/** Says what the run waits for, and gives up rewards that are late. */
export function rewardsWatchdog<Metadata>(
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

function checkScores<Metadata>(
  group: TrajectoryGroup<Metadata>,
  given: readonly ScoredTrajectory[],
): readonly ScoredTrajectory<Metadata>[] {
  // Whatever a computer reads of them, it returns the trajectories that it was given.
  const scored = given as readonly ScoredTrajectory<Metadata>[];
  if (!Array.isArray(given) || given.length !== group.trajectories.length) {
    throw new RewardError(
      `group "${group.id}": the reward computer must return one score per trajectory, ` +
        `got ${Array.isArray(given) ? given.length : described(given)} for ${group.trajectories.length}`,
    );
  }
  const unscored = new Set(group.trajectories.map(({ id }) => id));
  if (unscored.size < given.length)
    throw new RewardError(`group "${group.id}": trajectories must differ in their ids`);
  return scored.map((score: ScoredTrajectory<Metadata> | null, index) => {
    if (typeof score?.trajectory !== 'object') {
      throw new RewardError(
        `group "${group.id}": the reward computer must return { trajectory, reward, components } for each trajectory, ` +
          `got ${described(score)} at ${index}; rewardFunctions of @rlp/rewards makes a reward computer of functions ` +
          'that return numbers',
      );
    }
    const { id, status, steps } = score.trajectory;
    if (!unscored.delete(id)) {
      throw new RewardError(
        `group "${group.id}": the reward computer must return each trajectory of the group once, got "${id}" at ${index}`,
      );
    }
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
