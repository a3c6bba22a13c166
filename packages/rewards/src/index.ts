export {
  type FunctionRewardComputer,
  type RewardFunctionsOptions,
  type RewardPart,
  rewardFunctions,
} from './functions/reward-functions.ts';
export {
  type RegisteredRewardConfig,
  type RewardFactory,
  type RewardName,
  RewardRegistry,
  type RewardRegistryEntries,
} from './functions/reward-registry.ts';
export type { RewardFunctionStatistics } from './functions/tally.ts';
export * from './integrated/index.ts';
export * from './processor/index.ts';
export { type ExactAnswerOptions, exactAnswer } from './stock/answers/exact-answer.ts';
export { type TagFormatOptions, tagFormat } from './stock/format/tag-format.ts';
export {
  type AccuracyRewardOptions,
  accuracyReward,
  fluencyReward,
  type KeywordRewardOptions,
  keywordReward,
  type LengthRewardOptions,
  lengthReward,
  type PerplexityRewardOptions,
  perplexityReward,
  type WordPunctuation,
} from './stock/text/text-components.ts';
