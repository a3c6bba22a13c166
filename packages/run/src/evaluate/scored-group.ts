import type { ScoredTrajectory, Task } from '@rlp/core';

/** The scored responses to one task. */
export interface ScoredGroup {
  readonly task: Task;
  readonly trajectories: readonly ScoredTrajectory[];
}
