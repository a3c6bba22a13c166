export {
  type BufferEpisode,
  episodesFromBuffer,
  type ReadEpisode,
  type RewardBuffer,
  type RewardEpisode,
  referenceOf,
} from '../shared/episode.ts';
export { processEpisodeBatchRewards } from './batch.ts';
export type { ComponentName } from './components.ts';
export { type ResolvedRewardConfig, type RewardConfig, resolveRewardConfig } from './config.ts';
export type { RewardDependencies } from './dependencies.ts';
export { type EpisodeFailure, EpisodeRewards, type EpisodeScore } from './episode-rewards.ts';
export type { EpisodeScorer, ExternalSource } from './external.ts';
export { type FluencyRequest, type FluencyScorer, tokenFluency } from './fluency-scorer.ts';
export {
  type AddRewardOptions,
  createRolloutRewardProcessor,
  type EpisodeReward,
  type ProcessOptions,
  type ProcessorStatistics,
  RolloutRewardProcessor,
} from './processor.ts';
export { computeRewardVector } from './reward-vector.ts';
