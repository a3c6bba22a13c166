import type { Trajectory } from '@rlp/core';

/** Whether a trajectory is judged: those that failed, were aborted or are pending are not. */
export function isJudged({ status }: Pick<Trajectory, 'status'>): boolean {
  return status === 'completed' || status === 'truncated';
}
