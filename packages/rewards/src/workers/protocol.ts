import type { ScoredTrajectory } from '@rlp/core';

/** What a thread is started with. */
export interface ThreadData {
  /** The module whose export scores, and the export's name. */
  readonly module: string;
  readonly exportName: string;
  /** Milliseconds that a reward function may take to settle. */
  readonly timeoutMs: number;
}

/** Unit of scoring that can go to a separate thread. */
export type RewardScope = 'episode' | 'group';

/** What a thread found in the module. */
export interface ThreadExport {
  /** Functions, computers of functions and processors judge each episode alone, other computers whole groups. */
  readonly scope: RewardScope;
  /** Names of a processor's components. `undefined` for other exports. */
  readonly components: readonly string[] | undefined;
}

/** Scores of a group. The trajectory is present only if the computer returned another one than it got. */
export type TrajectoryScores = readonly (Omit<ScoredTrajectory, 'trajectory'> & {
  readonly trajectory?: ScoredTrajectory['trajectory'] | undefined;
})[];
