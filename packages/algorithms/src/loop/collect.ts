import { RewardError, type ScoredTrajectory, type Task, type TrajectoryGroup } from '@rlp/core';
import type { RlDependencies, ScoredGroup } from './protocol.ts';

/**
 * Collects one group per task and scores each as soon as it is there. `undefined` when the signal ended it early.
 *
 * Failed and aborted trajectories get the reward `null`, whatever the reward computer says.
 *
 * @throws RewardError for a wrong number of scores or a reward that is not a finite number.
 */
export async function collectScoredGroups<Metadata>(
  { rollouts, rewards, signal }: RlDependencies<Metadata>,
  tasks: readonly Task<Metadata>[],
  iteration: number,
): Promise<readonly ScoredGroup<Metadata>[] | undefined> {
  const pending: Promise<ScoredGroup<Metadata>>[] = [];
  for await (const group of rollouts.collectGroups(tasks, { iteration, signal })) {
    if (signal?.aborted) break;
    const scoring = rewards
      .computeRewards(group, signal === undefined ? {} : { signal })
      .then((scored) => ({ group, scored: checkScores(group, scored) }));
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
  scored: readonly ScoredTrajectory<Metadata>[],
): readonly ScoredTrajectory<Metadata>[] {
  if (scored.length !== group.trajectories.length) {
    throw new RewardError(
      `group "${group.id}": the reward computer must return one score per trajectory, ` +
        `got ${scored.length} for ${group.trajectories.length}`,
    );
  }
  return scored.map((score) => {
    const { status } = score.trajectory;
    if (status !== 'completed' && status !== 'truncated') return { ...score, reward: null };
    if (score.reward === null || Number.isFinite(score.reward)) return score;
    throw new RewardError(
      `trajectory "${score.trajectory.id}": the reward must be a finite number or null, got ${score.reward}`,
    );
  });
}
