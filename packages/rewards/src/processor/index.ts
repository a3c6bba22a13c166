export { processEpisodeBatchRewards } from './batch.ts';
export { type BufferEpisode, episodesFromBuffer, type RewardBuffer } from './buffer.ts';
export type { ComponentName } from './component-scorer.ts';
export {
  type AccuracyRewardOptions,
  accuracyReward,
  fluencyReward,
  type KeywordRewardOptions,
  keywordReward,
  type LengthRewardOptions,
  lengthReward,
  perplexityReward,
  type WordPunctuation,
} from './components.ts';
export { type ResolvedRewardConfig, type RewardConfig, resolveRewardConfig } from './config.ts';
export { type ReadEpisode, type RewardEpisode, referenceOf } from './episode.ts';
export { type EpisodeFailure, EpisodeRewards } from './episode-rewards.ts';
export type { EpisodeScorer } from './external-source.ts';
export { type FluencyRequest, type FluencyScorer, tokenFluency } from './fluency-scorer.ts';
export {
  type AddRewardOptions,
  createRolloutRewardProcessor,
  type EpisodeReward,
  type ProcessOptions,
  type RewardDependencies,
  RolloutRewardProcessor,
} from './processor.ts';
export type { ProcessorStatistics } from './statistics.ts';
