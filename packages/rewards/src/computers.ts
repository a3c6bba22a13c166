/** Reward computers over whole groups: ranks, Pareto fronts, costs of verification, sums of normalised rewards, whole judgements. */
export {
  type GroupScores,
  type RankTies,
  type RelativeRewardsOptions,
  ranks,
  relativeRewards,
  standardizedRewards,
} from './computers/normalized.ts';
export {
  type CrowdingOptions,
  crowdingDistances,
  distanceToFrontier,
  type ObjectivePoints,
  type ParetoOptions,
  type ParetoRewardsOptions,
  paretoRanks,
  paretoRewards,
} from './computers/pareto.ts';
export {
  ParetoRewardComputer,
  type ParetoRewardComputerOptions,
} from './computers/pareto-reward-computer.ts';
export {
  SVRLRewardComputer,
  type SVRLRewardComputerOptions,
  type SvrlScoreInput,
  type SvrlScoreOptions,
  svrlScore,
  type VerificationCost,
} from './computers/svrl-reward-computer.ts';
export {
  type AbsoluteRewardOptions,
  absoluteRewardComputer,
  type NormalizedRewardFunctionsOptions,
  normalizedRewardFunctions,
  type RelativeRewardOptions,
  relativeRewardComputer,
} from './computers/wrapped.ts';
