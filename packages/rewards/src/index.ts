export type { RewardFailureCause } from './call-reward.ts';
export * from './computers/index.ts';
export * from './integrated/index.ts';
export * from './kernel/index.ts';
export * from './processor/index.ts';
export {
  type FunctionRewardComputer,
  type RewardFunctionsOptions,
  type RewardPart,
  rewardFunctions,
} from './reward-functions.ts';
export * from './stock/index.ts';
export type { RewardFunctionStatistics } from './tally.ts';
export * from './verification/index.ts';
