import type { ScoredTrajectory, Trajectory, TrajectoryGroup } from './trajectory.ts';

/** Judgement of one trajectory: `null` means that it cannot be scored, and leaves it out of group statistics. */
export type RewardFunction<Metadata = unknown, Outcome = unknown> = (
  trajectory: Trajectory<Metadata, Outcome>,
  context: { readonly signal: AbortSignal },
) => number | null | Promise<number | null>;

/**
 * Scores trajectories after their episodes ended, never during.
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
   * Begins what can be judged of a trajectory alone, before its group is complete. `computeRewards` then takes what was begun for this
   * very object. Never throws. Present if some parts look at one trajectory at a time.
   */
  readonly prepare?:
    | ((
        trajectory: Trajectory<Metadata, Outcome>,
        options?: { readonly signal?: AbortSignal | undefined },
      ) => void)
    | undefined;
  /**
   * Has the weight that a component was given multiplied by a factor, from the next group on: what a monitor can ask for. The
   * last factor counts, so 1 undoes it. Present if there are weights.
   */
  readonly scaleWeight?: ((component: string, factor: number) => 'scaled' | 'unknown component') | undefined;
  /** Names of the parts whose calls have not been answered yet. Loops tell them to people who wait. */
  readonly waitingFor?: (() => readonly string[]) | undefined;
}

/**
 * What can score trajectories of these types: every {@link RewardComputer} that reads no more of them than there is. Loops ask for it,
 * because a computer that reads no metadata at all scores any task.
 */
export interface RewardsFor<Metadata, Outcome = unknown>
  extends Pick<RewardComputer, 'scaleWeight' | 'waitingFor'> {
  readonly computeRewards: (
    ...given: Parameters<RewardComputer<Metadata, Outcome>['computeRewards']>
  ) => Promise<readonly ScoredTrajectory[]>;
  readonly prepare?:
    | ((...given: Parameters<NonNullable<RewardComputer<Metadata, Outcome>['prepare']>>) => void)
    | undefined;
}

/**
 * A reward computer that can be called as a function: `await rewards(group)`.
 *
 * Functions that make reward computers return it, because TypeScript infers a call that returns a function after its neighbours. So
 * metadata and outcome reach the rewards of `new GRPOAlgorithm({ tasks, environment, rewards: rewardFunctions({ … }) })`.
 */
export interface CallableRewardComputer<Metadata = unknown, Outcome = unknown>
  extends RewardComputer<Metadata, Outcome> {
  (
    ...given: Parameters<RewardComputer<Metadata, Outcome>['computeRewards']>
  ): Promise<readonly ScoredTrajectory<Metadata, Outcome>[]>;
}

/** The same reward computer, callable. */
export function callableRewards<Metadata, Outcome, Extra extends object>(
  computer: RewardComputer<Metadata, Outcome> & Extra,
): CallableRewardComputer<Metadata, Outcome> & Extra {
  const call: RewardComputer<Metadata, Outcome>['computeRewards'] = (group, options) =>
    computer.computeRewards(group, options);
  return Object.assign(call, computer);
}
