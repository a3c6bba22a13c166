export {
  type AggregationMode,
  type AggregationOptions,
  aggregationModes,
  aggregationWeights,
  type LossAggregationOptions,
  type ResolvedLossAggregationOptions,
} from './loss/aggregation.ts';
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
export { crossEntropy, dynamicFineTuning } from './loss/cross-entropy.ts';
export { chosenLogprobs, collisionProbability, entropyOf, fullKl, logSoftmax } from './loss/distribution.ts';
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
export { type PolicyColumn, policyLoss } from './loss/policy-loss.ts';
export type { PolicyLossOptions } from './loss/policy-loss-options.ts';
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
export { type KlRewardInputs, klPenalizedRewards, overlongMasks } from './loss/reward-shaping.ts';
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
