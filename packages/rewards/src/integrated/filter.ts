import { ArgumentError, requireArguments } from '@rlp/core';
import type { EpisodeJudgement } from './judged-episode.ts';

/** What an episode has to reach. */
export interface AcceptanceThresholds {
  readonly minReward: number;
  /** `null`: no limit. */
  readonly maxReward: number | null;
  readonly verificationScore: number;
}

/** Scores of an episode. */
export interface AcceptanceScores extends Pick<EpisodeJudgement, 'reward' | 'verificationScore'> {}

/** Rounding that a sum of weighted components may have. */
const slack = 1e-9;

/**
 * Whether an episode is let through.
 *
 * The reward passes if `minReward ≤ reward ≤ maxReward`. A reward above what can be earned is taken for a broken one (sums
 * may round past either end by 1e-9). Verification passes if its score is at least `verificationScore`. `strict` wants both,
 * `lenient` one of them. Without a verification score the reward alone decides. An unscorable episode never passes,
 * since nothing can be learned from it.
 */
export function isAccepted(
  { reward, verificationScore }: AcceptanceScores,
  thresholds: AcceptanceThresholds,
  filtering: 'strict' | 'lenient',
): boolean {
  if (reward === null || Number.isNaN(reward)) return false;
  const { minReward, maxReward } = thresholds;
  const rewardPasses = reward >= minReward - slack && (maxReward === null || reward <= maxReward + slack);
  if (verificationScore === undefined) return rewardPasses;
  const verificationPasses = verificationScore >= thresholds.verificationScore;
  return filtering === 'strict' ? rewardPasses && verificationPasses : rewardPasses || verificationPasses;
}

/** Options of {@link computeIntegratedRewards}. */
export interface IntegratedRewardWeights {
  /** Default 0.7. */
  readonly rewardWeight?: number | undefined;
  /** Default 0.3. */
  readonly verificationWeight?: number | undefined;
}

/**
 * Rewards and verification scores as one number, with weights normalised to sum to 1:
 *
 *     combined_i = (w_r · reward_i + w_v · score_i) / (w_r + w_v)
 *
 * @param baseRewards - Shape: `[B]`, as `verificationScores`.
 * @returns Shape: `[B]`.
 * @throws ArgumentError for unequal lengths, or weights that sum to 0.
 */
export function computeIntegratedRewards(
  baseRewards: ArrayLike<number>,
  verificationScores: ArrayLike<number>,
  { rewardWeight = 0.7, verificationWeight = 0.3 }: IntegratedRewardWeights = {},
): Float64Array {
  const kinds = { baseRewards: 'list', verificationScores: 'list' } as const;
  requireArguments('computeIntegratedRewards', kinds, baseRewards, verificationScores);
  if (baseRewards.length !== verificationScores.length) {
    throw new ArgumentError(
      `computeIntegratedRewards: expected as many verification scores as rewards, got ${verificationScores.length} and ${baseRewards.length}`,
    );
  }
  const total = rewardWeight + verificationWeight;
  if (!Number.isFinite(total) || total === 0) {
    throw new ArgumentError(
      `computeIntegratedRewards: expected weights with a sum that is not 0, got ${rewardWeight} and ${verificationWeight}`,
    );
  }
  const [ofReward, ofScore] = [rewardWeight / total, verificationWeight / total];
  return Float64Array.from(
    { length: baseRewards.length },
    (_, i) => ofReward * baseRewards[i]! + ofScore * verificationScores[i]!,
  );
}
