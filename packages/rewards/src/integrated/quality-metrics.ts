import { type Metrics, requireArguments, type VerificationResult } from '@rlp/core';
import { momentsOf } from '../computers/normalized.ts';
import type { JudgedEpisode } from './judged-episode.ts';

/** Five numbers about many. */
export interface SummaryStatistics {
  readonly mean: number;
  /** Population deviation, divided by n as numpy does by default. */
  readonly std: number;
  readonly min: number;
  readonly max: number;
  /** For an even number of values, the mean of the middle two. */
  readonly median: number;
}

/** What a batch of judged episodes is like. */
export interface QualityMetrics {
  readonly numEpisodes: number;
  /** Episodes without a reward. The statistics leave them out. */
  readonly unscorable: number;
  /** Absent if no episode has a reward. */
  readonly rewardStats?: SummaryStatistics | undefined;
  /** Absent without verification, as the counts. */
  readonly verificationStats?: SummaryStatistics | undefined;
  readonly verificationCounts?: Readonly<Record<VerificationResult, number>> | undefined;
  /** Your own metrics. `null` if one threw or was not finite. */
  readonly custom: Readonly<Record<string, number | null>>;
}

/** Your own quality measure, over episodes with their rewards and verdicts. */
export type CustomMetric = (episodes: readonly JudgedEpisode[]) => number;

/** Mean, population deviation, extremes and median. `undefined` for no values. */
export function summaryStatistics(values: readonly number[]): SummaryStatistics | undefined {
  requireArguments('summaryStatistics', { values: 'numbers' }, values);
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  const middle = length >> 1;
  return {
    ...momentsOf(sorted),
    min: sorted[0]!,
    max: sorted[length - 1]!,
    median: length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2,
  };
}

/**
 * Statistics of judged episodes. Empty for none. Verification is left out where no episode was verified.
 *
 * @param customMetrics - By name. One that fails is `null` and touches nothing else.
 */
export function qualityMetrics(
  episodes: readonly JudgedEpisode[],
  customMetrics: Readonly<Record<string, CustomMetric>> = {},
): QualityMetrics | Record<string, never> {
  requireArguments('qualityMetrics', { episodes: 'objects', metrics: 'object' }, episodes, customMetrics);
  if (episodes.length === 0) return {};
  const rewards = episodes.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const scores = episodes.flatMap(({ verificationScore }) =>
    verificationScore === undefined ? [] : [verificationScore],
  );
  const rewardStats = summaryStatistics(rewards);
  const verificationStats = summaryStatistics(scores);
  return {
    numEpisodes: episodes.length,
    unscorable: episodes.length - rewards.length,
    ...(rewardStats && { rewardStats }),
    ...(verificationStats && { verificationStats, verificationCounts: countResults(episodes) }),
    custom: Object.fromEntries(
      Object.entries(customMetrics).map(([name, metric]) => [name, evaluate(metric, episodes)]),
    ),
  };
}

function countResults(episodes: readonly JudgedEpisode[]): Record<VerificationResult, number> {
  const counts = { pass: 0, warning: 0, fail: 0 };
  for (const { verificationResult } of episodes) {
    if (verificationResult !== undefined) counts[verificationResult] += 1;
  }
  return counts;
}

function evaluate(metric: CustomMetric, episodes: readonly JudgedEpisode[]): number | null {
  try {
    const value = metric(episodes);
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  } catch {
    return null;
  }
}

/** Quality metrics as flat numbers, such as `reward/mean` and `verification/fail`. */
export function flatMetrics(metrics: QualityMetrics | Record<string, never>): Metrics {
  const flat: Record<string, number> = {};
  const add = (prefix: string, values: object | undefined) => {
    for (const [name, value] of Object.entries(values ?? {})) {
      if (typeof value === 'number') flat[`${prefix}/${name}`] = value;
    }
  };
  add('quality', { episodes: metrics.numEpisodes, unscorable: metrics.unscorable });
  add('reward', metrics.rewardStats);
  add('verification', metrics.verificationStats);
  add('verification', metrics.verificationCounts);
  add('quality/custom', metrics.custom);
  return flat;
}
