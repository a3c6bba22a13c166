export { type AnchorOptions, anchorGroups } from './advantage/anchor-groups.ts';
export { type BilevelGaeInputs, type BilevelGaeOptions, bilevelGae } from './advantage/bilevel-gae.ts';
export {
  type DiscountedReturnInputs,
  type DiscountedReturnOptions,
  discountedReturns,
} from './advantage/discounted-returns.ts';
export { type GaeInputs, type GaeOptions, type GaeResult, gae } from './advantage/gae.ts';
export {
  type GigpoInputs,
  type GigpoOptions,
  type GigpoResult,
  gigpoAdvantages,
} from './advantage/gigpo.ts';
export { groupIndices, scatterGroups } from './advantage/group-indices.ts';
export {
  type GroupLengths,
  type GroupRelativeOptions,
  type GroupRewards,
  groupRelativeAdvantages,
  hasRewardVariance,
} from './advantage/group-relative.ts';
export {
  type OptimalTokenBaselineInputs,
  type OptimalTokenBaselineOptions,
  optimalTokenBaseline,
} from './advantage/optimal-token-baseline.ts';
export { type AdvantagePreset, advantagePresets } from './advantage/presets.ts';
export { reductionFactors, scaledAdvantages } from './advantage/reduction-factors.ts';
export {
  normalizedThenSummed,
  standardizedOverBatch,
} from './advantage/reward-functions.ts';
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
export {
  type AggregationMode,
  type AggregationOptions,
  aggregationModes,
  aggregationWeights,
} from './aggregation.ts';
export { DAPOAlgorithm, type DapoOptions } from './algorithm/dapo.ts';
export { DrGRPOAlgorithm, type DrGrpoOptions } from './algorithm/dr-grpo.ts';
export { GiGPOAlgorithm, type GigpoAlgorithmOptions } from './algorithm/gigpo.ts';
export { GRPOAlgorithm, type GrpoDependencies, type GrpoOptions } from './algorithm/grpo.ts';
export { GSPOAlgorithm, type GspoOptions } from './algorithm/gspo.ts';
export {
  type AlgorithmDependencies,
  type AlgorithmOptions,
  type AlgorithmPlan,
  PolicyAlgorithm,
  type ProgressBar,
  type TrainOptions,
  type TrainResult,
} from './algorithm/policy-algorithm.ts';
export { PPOAlgorithm, type PpoDependencies, type PpoOptions } from './algorithm/ppo.ts';
export { type AlgorithmPreset, algorithmPresets, type PresetName } from './algorithm/presets.ts';
export { REINFORCEAlgorithm, type ReinforceOptions } from './algorithm/reinforce.ts';
export { RLOOAlgorithm, type RlooOptions } from './algorithm/rloo.ts';
export {
  type AdvantageEstimate,
  type BackpropDependencies,
  BackpropModule,
  type BackpropOptions,
  type BackpropUpdate,
  type PendingLoss,
} from './backprop-module.ts';
export {
  type ExplainedVarianceInputs,
  effectiveSampleSize,
  explainedVariance,
  type NormalizationOptions,
  normalizedWeights,
  type SamplerGap,
  type SamplerGapInputs,
  samplerGap,
  type TokenStatistics,
  tokenStatistics,
  zeroVarianceShare,
} from './diagnostics.ts';
export type { BilevelGaeEstimatorOptions, GaeEstimatorOptions } from './estimator/critic-estimators.ts';
export { estimators } from './estimator/estimators.ts';
export type { GdpoOptions, GigpoEstimatorOptions } from './estimator/group-estimators.ts';
export type { ReinforceBaseline, ReinforceEstimatorOptions } from './estimator/return-estimators.ts';
export type { PlanningOptions } from './estimator/token-estimators.ts';
export type { Whitening } from './estimator/whitening.ts';
export { groupFilters } from './loop/group-filters.ts';
export { type ResolvedRlOptions, type RlOptions, resolveRlOptions } from './loop/options.ts';
export {
  type AdvantageEstimator,
  type EstimatorNeed,
  type GroupCollector,
  type GroupEstimator,
  type GroupFilter,
  type InterventionHandlers,
  type RlDependencies,
  type RlReport,
  type RlState,
  rlStateSchema,
  type ScoredGroup,
  type TokenBatch,
  type TokenEstimate,
  type TokenEstimator,
  type TokenOwner,
  type TrajectoryAdvantage,
} from './loop/protocol.ts';
export { type ResumeOptions, runRlTraining } from './loop/rl.ts';
export {
  runSftTraining,
  type SftDependencies,
  type SftReport,
  type SftState,
  sftStateSchema,
} from './loop/sft.ts';
export { type ResolvedSftOptions, resolveSftOptions, type SftOptions } from './loop/sft-options.ts';
export { type ClipOptions, clippedSurrogate, type SurrogateInputs } from './loss/clipped-surrogate.ts';
export {
  type EntropyControl,
  type KlControl,
  nextEntropyCoefficient,
  nextKlCoefficient,
} from './loss/controllers.ts';
export {
  type ClipCovarianceInputs,
  type ClipCovarianceOptions,
  type CovarianceInputs,
  clipCovarianceKeep,
  type EntropyInputs,
  highEntropyKeep,
  type KlCovarianceOptions,
  klCovarianceSelection,
} from './loss/covariance.ts';
export { crossEntropy } from './loss/cross-entropy.ts';
export {
  chosenLogprobs,
  collisionProbability,
  entropyOf,
  fullKl,
  logSoftmax,
} from './loss/distribution.ts';
export {
  type EntropyShapingInputs,
  type EntropyShapingOptions,
  entropyShapedRewards,
  separatelyWhitened,
} from './loss/entropy-shaped-rewards.ts';
export {
  importanceRatio,
  type MixedRatioOptions,
  mixedRatio,
  type RatioInputs,
  type RatioLevel,
  type RatioOptions,
  ratioLevels,
} from './loss/importance-ratio.ts';
export {
  type KlEstimator,
  type KlInputs,
  type KlOptions,
  klEstimate,
  klEstimators,
} from './loss/kl-estimate.ts';
export type { CountFloor } from './loss/masked.ts';
export { policyLoss } from './loss/policy-loss.ts';
export type { PolicyLossOptions } from './loss/policy-loss-options.ts';
export { type LossPreset, lossPresets } from './loss/presets.ts';
export {
  type DivergenceInputs,
  type DivergenceOptions,
  divergenceMask,
  type GeometricInputs,
  type GeometricOptions,
  geometricMeanRatio,
  importanceSampling,
  type SoftGateOptions,
  softGateSurrogate,
} from './loss/ratio-surrogates.ts';
export {
  type KlRewardInputs,
  klPenalizedRewards,
  overlongMasks,
} from './loss/reward-shaping.ts';
export {
  type AcceptanceCriterion,
  acceptanceMask,
  type CorrectionInputs,
  type OffPolicyInputs,
  offPolicySequenceMask,
  type SamplerWeightOptions,
  samplerWeights,
} from './loss/sampler-correction.ts';
export {
  clippedWeightSurrogate,
  type GammaInputs,
  type GammaOptions,
  type GammaShape,
  gammaWeights,
  policyGradient,
  type RatioBounds,
  type ScoreInputs,
  windowSurrogate,
} from './loss/score-surrogates.ts';
export { type SurrogateKind, surrogateKinds } from './loss/surrogates.ts';
export {
  type ValueInputs,
  type ValueLossOptions,
  type ValueLossResult,
  valueLoss,
} from './loss/value-loss.ts';
export type { DecisionNumbers } from './sequence/decision-numbers.ts';
export {
  type Demonstration,
  type DemonstrationEncoding,
  demonstrationSequences,
} from './sequence/demonstration.ts';
export {
  type MaskedMessages,
  type MessageTokens,
  messageMasks,
  responseLength,
  type TrainedMessages,
} from './sequence/message-masks.ts';
export {
  type MaskedMeanOptions,
  type MaskedVarianceOptions,
  maskedMean,
  maskedRowMeans,
  maskedVariance,
} from './statistics/masked.ts';
export { passAtK } from './statistics/pass-at-k.ts';
export type { TokenRows } from './statistics/token-rows.ts';
export { type WhiteningOptions, whitened } from './statistics/whitened.ts';
