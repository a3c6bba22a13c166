import { ArgumentError, described, plural } from '@rlp/core';
import { discountedReturns } from '../advantage/discounted-returns.ts';
import { type GroupRelativeOptions, groupRelativeAdvantages } from '../advantage/group-relative.ts';
import type {
  AdvantageEstimator,
  EstimateWatch,
  GroupEstimator,
  ScoredGroup,
  TokenBatch,
  TokenEstimate,
  TokenEstimator,
  TrajectoryAdvantage,
} from './protocol.ts';
import { rewardsOf, sampledTokens } from './trajectory-rows.ts';

/** `groupRelativeAdvantages` of the trajectories' rewards, and of the numbers of tokens they sampled. */
export function groupRelativeEstimator(options?: GroupRelativeOptions): GroupEstimator {
  return (groups) =>
    groupRelativeAdvantages(groups.map(rewardsOf), options, {
      lengths: groups.map(({ scored }) => scored.map(({ trajectory }) => sampledTokens(trajectory))),
    });
}

/**
 * Any estimator as one that sees tokens.
 *
 * @param penaltyPlace - Where a function of groups finds the KL in the reward: off its trajectories' rewards, or off the
 *   tokens' advantages afterwards.
 * @param watch - Is told what a function of groups can say of its steps.
 */
export function tokenEstimator<Metadata>(
  estimator: AdvantageEstimator<Metadata>,
  penaltyPlace: 'trajectory' | 'token' = 'trajectory',
  watch?: EstimateWatch,
): TokenEstimator<Metadata> {
  if (typeof estimator !== 'function') return estimator;
  if (penaltyPlace === 'trajectory') {
    return { estimate: (batch) => spreadOverRows(estimator(penalized(batch), watch), batch) };
  }
  return {
    estimate: (batch) => {
      const { advantages } = spreadOverRows(estimator(batch.groups, watch), batch);
      const { penalties, masks } = batch;
      if (penalties === undefined) return { advantages };
      const toCome = discountedReturns({ rewards: penalties, masks });
      return { advantages: toCome.map((row, b) => row.map((penalty, t) => advantages[b]![t]! - penalty)) };
    },
  };
}

/**
 * Gives every token the advantage of its trajectory, or of its step.
 *
 * @throws ArgumentError when the estimator's advantages do not fit the groups.
 */
function spreadOverRows(
  advantages: ReturnType<GroupEstimator>,
  { groups, owners, steps }: TokenBatch,
): TokenEstimate {
  checkShape(advantages, groups.length);
  return {
    advantages: owners.map(({ group, member, scored }, b) => {
      const advantage = advantages[group]?.[member];
      if (advantage === undefined) {
        throw new ArgumentError(
          `advantages: group ${group} has none for its member ${member}; return one per trajectory`,
        );
      }
      const { length } = scored.trajectory.steps;
      if (typeof advantage !== 'number' && advantage.length !== length) {
        throw new ArgumentError(
          `advantages: member ${member} of group ${group} made ${plural(length, 'step')} and got ${plural(advantage.length, 'advantage')}; ` +
            'return one number, or one per step',
        );
      }
      return spread(advantage, steps[b]!);
    }),
  };
}

function checkShape(advantages: unknown, groups: number): void {
  const isList = Array.isArray(advantages);
  const wrong = isList
    ? advantages.find((row) => !Array.isArray(row) && !ArrayBuffer.isView(row))
    : advantages;
  if (isList && advantages.length === groups && wrong === undefined) return;
  const got = isList && wrong !== undefined ? `${described(wrong)} as one of them` : described(advantages);
  throw new ArgumentError(
    `advantages: expected a list of ${plural(groups, 'group')}, each with one advantage per trajectory, got ` +
      `${isList && wrong === undefined ? `a list of ${advantages.length}` : got}`,
  );
}

function spread(advantage: TrajectoryAdvantage, steps: ArrayLike<number>): Float64Array {
  const row = new Float64Array(steps.length);
  for (let t = 0; t < row.length; t++) {
    const step = steps[t]!;
    if (step >= 0) row[t] = typeof advantage === 'number' ? advantage : advantage[step]!;
  }
  return row;
}

/** The groups with the KL that was taken off tokens taken off their trajectories' rewards. */
function penalized<Metadata>({
  groups,
  owners,
  penalties,
}: TokenBatch<Metadata>): readonly ScoredGroup<Metadata>[] {
  if (penalties === undefined) return groups;
  const totals = new Map<unknown, number>();
  for (const [b, { scored }] of owners.entries()) {
    const row = penalties[b]!;
    let total = 0;
    for (let t = 0; t < row.length; t++) total += row[t]!;
    totals.set(scored, total);
  }
  return groups.map(({ group, scored }) => ({
    group,
    scored: scored.map((score) =>
      score.reward === null ? score : { ...score, reward: score.reward - (totals.get(score) ?? 0) },
    ),
  }));
}
