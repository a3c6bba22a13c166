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
  GRPOAlgorithm,
  type GrpoDependencies,
  type GrpoOptions,
  type ProgressBar,
  type TrainOptions,
  type TrainResult,
} from './grpo.ts';
export {
  type ResolvedRlOptions,
  type ResolvedSftOptions,
  type RlOptions,
  resolveRlOptions,
  resolveSftOptions,
  type SftOptions,
} from './loop/options.ts';
export {
  type AdvantageEstimator,
  type GroupCollector,
  type RlDependencies,
  type RlReport,
  type RlState,
  rlStateSchema,
  type ScoredGroup,
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
export {
  type Demonstration,
  type DemonstrationEncoding,
  demonstrationSequences,
} from './sequence/demonstration.ts';
