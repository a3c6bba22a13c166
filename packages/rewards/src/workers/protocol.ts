import type { ScoredTrajectory, TrajectoryGroup } from '@rlp/core';
import type { EpisodeFailure } from '../processor/episode-rewards.ts';
import type { RewardEpisode } from '../shared/episode.ts';

/** What a thread is started with. */
export interface ThreadData {
  /** The module whose export scores, and the export's name. */
  readonly module: string;
  readonly exportName: string;
  /** Milliseconds that a reward function may take to settle. */
  readonly timeoutMs: number;
}

/** What a thread found in the module. */
export interface ThreadExport {
  /** What may be parted: a reward function and a processor judge each episode by itself, another computer a whole group. */
  readonly scope: RewardScope;
  /** Whether it scores episodes, as a processor does, or trajectories only. */
  readonly scores: 'episodes' | 'trajectories';
}

/** What is judged by itself, and may go to any thread. */
export type RewardScope = 'episode' | 'group';

/** What a thread is asked. One at a time. */
export type ThreadRequest =
  | { readonly kind: 'group'; readonly group: TrajectoryGroup }
  | { readonly kind: 'episodes'; readonly episodes: readonly RewardEpisode[] };

/** Scores of a group: the trajectory is only there where the computer gave another than it got. */
export type TrajectoryScores = readonly (Omit<ScoredTrajectory, 'trajectory'> & {
  readonly trajectory?: ScoredTrajectory['trajectory'] | undefined;
})[];

/** Scores of episodes, as `EpisodeRewards` holds them. */
export interface EpisodeScores {
  readonly data: Float64Array<ArrayBuffer>;
  readonly components: Readonly<Record<string, Float64Array>>;
  readonly failures: readonly EpisodeFailure[];
}

/** What a thread answers. */
export type ThreadAnswer =
  | { readonly kind: 'group'; readonly scores: TrajectoryScores }
  | { readonly kind: 'episodes'; readonly scores: EpisodeScores };
