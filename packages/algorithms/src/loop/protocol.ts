import type {
  InferenceEngine,
  Metrics,
  RewardComputer,
  ScoredTrajectory,
  Task,
  TaskSource,
  TrainingBackend,
  TrajectoryGroup,
} from '@rlp/core';
import { z } from 'zod';

/** What collects groups of trajectories; a `RolloutManager` does. */
export interface GroupCollector<Metadata = unknown> {
  readonly options: { readonly sampling: { readonly temperature: number } };
  /**
   * Yields one group per task. Equal iterations of equal weights give equal groups. Ends early, without throwing, once
   * `signal` fires.
   */
  collectGroups(
    tasks: readonly Task<Metadata>[],
    options: { readonly iteration: number; readonly signal?: AbortSignal | undefined },
  ): AsyncIterable<TrajectoryGroup<Metadata>>;
}

/** A group with one score per trajectory, in order. */
export interface ScoredGroup<Metadata = unknown> {
  readonly group: TrajectoryGroup<Metadata>;
  readonly scored: readonly ScoredTrajectory<Metadata>[];
}

/** Advantage of one trajectory: one number for all its tokens, or one per step. */
export type TrajectoryAdvantage = number | readonly number[];

/** Rewards to advantages, for all groups of an iteration. Shape: `[P][G]`. Unscorable trajectories are not trained. */
export type AdvantageEstimator<Metadata = unknown> = (
  groups: readonly ScoredGroup<Metadata>[],
) => readonly (readonly TrajectoryAdvantage[])[];

/** What `runRlTraining` works with. It creates nothing and closes nothing. */
export interface RlDependencies<Metadata = unknown> {
  readonly rollouts: GroupCollector<Metadata>;
  readonly tasks: TaskSource<Metadata>;
  readonly rewards: RewardComputer<Metadata>;
  readonly backend: TrainingBackend;
  /** The sampler that `rollouts` draws from: takes over the weights. */
  readonly inference: InferenceEngine;
  /** Default: `groupRelativeAdvantages` with the options' `advantage`. */
  readonly advantages?: AdvantageEstimator<Metadata> | undefined;
  /** Milliseconds from any origin, such as `performance.now`. Without it, times are not reported. */
  readonly clock?: (() => number) | undefined;
  /** Ends the run: at once and without a report before the iteration's first update, else after its updates. */
  readonly signal?: AbortSignal | undefined;
}

/** Schema of {@link RlState}. */
export const rlStateSchema = z.strictObject({
  iteration: z.int().nonnegative(),
  taskCursor: z.int().nonnegative(),
});

/** Where an RL run stands: with the backend's checkpoint, all that is needed to continue it. */
export interface RlState {
  /** Iterations made. */
  readonly iteration: number;
  /** Tasks taken. */
  readonly taskCursor: number;
}

/** One turn of the loop: collected, learned, published. */
export interface RlReport<Metadata = unknown> {
  /** Counts from 0. */
  readonly iteration: number;
  /** See `docs/metrics.md`. */
  readonly metrics: Metrics;
  /** What a person should know, such as "6 of 8 groups had no reward variance". */
  readonly notes: readonly string[];
  readonly groups: readonly ScoredGroup<Metadata>[];
  /** Continue after this iteration with it. */
  readonly state: RlState;
}
