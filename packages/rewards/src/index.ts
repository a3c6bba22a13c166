export * from './integrated/index.ts';
export * from './processor/index.ts';
export {
  type FunctionRewardComputer,
  type RewardFunctionsOptions,
  type RewardPart,
  rewardFunctions,
} from './reward-functions.ts';
export {
  type RegisteredRewardConfig,
  type RewardFactory,
  RewardRegistry,
  type RewardRegistryEntries,
} from './reward-registry.ts';
export { type ExactAnswerOptions, exactAnswer } from './stock/exact-answer.ts';
export { extractTag } from './stock/extract-tag.ts';
export { type TagFormatOptions, tagFormat } from './stock/tag-format.ts';
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
} from './stock/text-components.ts';
export type { RewardFunctionStatistics } from './tally.ts';
