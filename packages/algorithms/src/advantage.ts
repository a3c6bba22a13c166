export { type AnchorOptions, anchorGroups, type ResolvedAnchorOptions } from './advantage/anchor-groups.ts';
export { type BilevelGaeInputs, type BilevelGaeOptions, bilevelGae } from './advantage/bilevel-gae.ts';
export {
  type DiscountedReturnInputs,
  type DiscountedReturnOptions,
  discountedReturns,
} from './advantage/discounted-returns.ts';
export { type GaeInputs, type GaeOptions, type GaeResult, gae } from './advantage/gae.ts';
export { type GigpoInputs, type GigpoOptions, type GigpoResult, gigpoAdvantages } from './advantage/gigpo.ts';
export { groupIndices, scatterGroups } from './advantage/group-indices.ts';
export {
  type GroupLengths,
  type GroupRelativeOptions,
  type GroupRewards,
  groupRelativeAdvantages,
  hasRewardVariance,
  type ResolvedGroupRelativeOptions,
} from './advantage/group-relative.ts';
export {
  type OptimalTokenBaselineInputs,
  type OptimalTokenBaselineOptions,
  optimalTokenBaseline,
} from './advantage/optimal-token-baseline.ts';
export { reductionFactors, scaledAdvantages } from './advantage/reduction-factors.ts';
export { normalizedThenSummed, standardizedOverBatch } from './advantage/reward-functions.ts';
export { sequenceRatio } from './advantage/sequence-ratio.ts';
export {
  type ReinforceInputs,
  reinforceAdvantages,
  sequenceScores,
  spreadOverTokens,
} from './advantage/token-advantages.ts';
export {
  alignedTurnRewards,
  type TokenRewardInputs,
  type TurnReward,
  tokenRewards,
} from './advantage/token-rewards.ts';
export {
  entropyWeightedAdvantages,
  planningAmplifiedAdvantages,
  planningTokens,
  pooledEntropies,
} from './advantage/token-weighting.ts';
export type {
  BilevelGaeEstimatorOptions,
  GaeEstimatorOptions,
  ResolvedGaeEstimatorOptions,
} from './estimator/critic-estimators.ts';
export { estimators } from './estimator/estimators.ts';
export type {
  GdpoOptions,
  GigpoEstimatorOptions,
  ResolvedGigpoEstimatorOptions,
} from './estimator/group-estimators.ts';
export type {
  ReinforceBaseline,
  ReinforceEstimatorOptions,
  ResolvedReinforceEstimatorOptions,
} from './estimator/return-estimators.ts';
export type { PlanningOptions } from './estimator/token-estimators.ts';
export type {
  AdvantageWhiteningOptions,
  ResolvedAdvantageWhiteningOptions,
  Whitening,
} from './estimator/whitening.ts';
