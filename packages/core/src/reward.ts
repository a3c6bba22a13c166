import type { ScoredTrajectory, Trajectory, TrajectoryGroup } from './trajectory.ts';

/** Judgement of one trajectory: `null` means that it cannot be scored, and leaves it out of group statistics. */
export type RewardFunction<Metadata = unknown, Outcome = unknown> = (
  trajectory: Trajectory<Metadata, Outcome>,
  context: { readonly signal: AbortSignal },
) => number | null | Promise<number | null>;

/**
 * Scores trajectories after they were collected, never during.
 *
 * Resolves with one {@link ScoredTrajectory} per trajectory, in order. It never rejects because one trajectory cannot be
 * scored: that one gets `null`. A non-finite reward is a `RewardError`. It rejects with the signal's reason once aborted.
 *
 * The method is a property, so that a computer which reads `metadata.answer` is not taken for tasks without it.
 */
export interface RewardComputer<Metadata = unknown, Outcome = unknown> {
  readonly computeRewards: (
    group: TrajectoryGroup<Metadata, Outcome>,
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<readonly ScoredTrajectory<Metadata, Outcome>[]>;
  /**
   * Has the weight that a component was given multiplied by a factor, from the next group on: what a monitor can ask for. The
   * last factor counts, so 1 undoes it. Present where there are weights.
   */
  readonly scaleWeight?: ((component: string, factor: number) => 'scaled' | 'unknown component') | undefined;
}
