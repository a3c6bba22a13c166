/** Reward computers over whole groups, by ranks, Pareto fronts, costs of verification, sums of normalised rewards. */
export {
  type GroupScores,
  type RankTies,
  type RelativeRewardsOptions,
  ranks,
  relativeRewards,
  standardizedRewards,
} from './computers/normalized.ts';
export * from './computers/pareto.ts';
export * from './computers/pareto-reward-computer.ts';
export * from './computers/svrl-reward-computer.ts';
export * from './computers/wrapped.ts';
