import type { ScoredTrajectory, Task } from '@rlp/core';

/** The scored responses to one task. */
export interface ScoredTask {
  readonly task: Task;
  readonly trajectories: readonly ScoredTrajectory[];
}
