import type { ScoredTrajectory, Trajectory } from '@rlp/core';

/** Whether a trajectory has something to judge: it ended by itself, or a limit cut it. */
export function isScorable({ status }: Trajectory): boolean {
  return status === 'completed' || status === 'truncated';
}

/** A trajectory without a score. */
export function unscored<Metadata>(
  trajectory: Trajectory<Metadata>,
  components: readonly string[],
): ScoredTrajectory<Metadata> {
  return { trajectory, reward: null, components: Object.fromEntries(components.map((name) => [name, null])) };
}
