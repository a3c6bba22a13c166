export {
  type AdaptiveThreshold,
  type IntegratedRewardConfig,
  type ResolvedIntegratedRewardConfig,
  resolveIntegratedRewardConfig,
} from './config.ts';
export {
  type AcceptanceScores,
  type AcceptanceThresholds,
  computeIntegratedRewards,
  type IntegratedRewardWeights,
  isAccepted,
} from './filter.ts';
export type { EpisodeJudgement, JudgedEpisode } from './judged-episode.ts';
export type { LiveMetrics, LiveMetricsStream } from './live-metrics.ts';
export {
  type CustomMetric,
  type QualityMetrics,
  qualityMetrics,
  type SummaryStatistics,
  summaryStatistics,
} from './quality-metrics.ts';
export {
  createIntegratedRewardSystem,
  type IntegratedRewardDependencies,
  IntegratedRolloutRewardSystem,
  type ProcessedEpisodes,
  processEpisodesWithQualityControl,
} from './system.ts';
export { QuantileTracker } from './thresholds.ts';
