export type { RewardFailureCause } from './call-reward.ts';
export { type ExactAnswerOptions, exactAnswer } from './exact-answer.ts';
export { extractTag } from './extract-tag.ts';
export {
  type FunctionRewardComputer,
  type RewardFunctionsOptions,
  type RewardPart,
  rewardFunctions,
} from './reward-functions.ts';
export { type TagFormatOptions, tagFormat } from './tag-format.ts';
export type { RewardFunctionStatistics } from './tally.ts';
