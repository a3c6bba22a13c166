export {
  type GroupRelativeOptions,
  type GroupRewards,
  groupRelativeAdvantages,
  hasRewardVariance,
} from './advantage/group-relative.ts';
export {
  type AggregationMode,
  type AggregationOptions,
  aggregationModes,
  aggregationWeights,
} from './aggregation.ts';
export {
  type ClipOptions,
  clippedSurrogate,
  type Surrogate,
  type SurrogateInputs,
} from './loss/clipped-surrogate.ts';
export { crossEntropy } from './loss/cross-entropy.ts';
export { type ImportanceInputs, truncatedImportanceWeights } from './loss/importance-weights.ts';
export { type KlInputs, type KlOptions, klEstimate } from './loss/kl-estimate.ts';
export { type PolicyLossOptions, policyLoss } from './loss/policy-loss.ts';
