import { ArgumentError, type TokenSequence, tokenSequences } from '@rlp/core';
import { groupRelativeAdvantages, hasRewardVariance } from '../advantage/group-relative.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { AdvantageEstimator, ScoredGroup, TrajectoryAdvantage } from './protocol.ts';

/** A sequence that was sampled, with the advantage of each token. */
export interface Experience {
  readonly sequence: TokenSequence;
  /** 0 where the mask is 0. Shape: `[T]`. */
  readonly advantages: Float64Array;
}

/**
 * The training sequences of an iteration: those of every trajectory that was scored.
 *
 * @throws ArgumentError when the estimator's advantages do not fit the groups.
 */
export function experienceOf<Metadata>(
  groups: readonly ScoredGroup<Metadata>[],
  options: ResolvedRlOptions,
  estimator: AdvantageEstimator<Metadata> = (scoredGroups) =>
    groupRelativeAdvantages(scoredGroups.map(rewardsOf), options.advantage),
): Experience[] {
  const advantages = estimator(groups);
  return groups.flatMap((group, p) => {
    if (options.zeroVarianceGroups === 'skip' && !hasRewardVariance(rewardsOf(group))) return [];
    return group.scored.flatMap(({ trajectory, reward }, g) => {
      if (reward === null) return [];
      const advantage = advantages[p]?.[g];
      if (advantage === undefined) {
        throw new ArgumentError(
          `advantages: group ${p} has none for its member ${g}; return one per trajectory`,
        );
      }
      return tokenSequences(trajectory.steps).map((sequence) => ({
        sequence,
        advantages: spread(advantage, sequence),
      }));
    });
  });
}

/** Rewards of a group, `null` where a trajectory could not be scored. Shape: `[G]`. */
export function rewardsOf({ scored }: ScoredGroup): (number | null)[] {
  return scored.map(({ reward }) => reward);
}

function spread(advantage: TrajectoryAdvantage, { steps }: TokenSequence): Float64Array {
  return Float64Array.from(steps, (step) => {
    if (step < 0) return 0;
    return typeof advantage === 'number' ? advantage : (advantage[step] ?? 0);
  });
}
