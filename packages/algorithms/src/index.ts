export type { Demonstration } from '@rlp/data';
export { DAPOAlgorithm, type DapoOptions } from './algorithm/dapo.ts';
export {
  type AlgorithmDependencies,
  type CollectedDependencies,
  collectedSchema,
  dependencySchema,
  type LearningDependencies,
  type PolicyDependencies,
} from './algorithm/dependencies.ts';
export { DrGRPOAlgorithm, type DrGrpoOptions } from './algorithm/dr-grpo.ts';
export { GiGPOAlgorithm, type GigpoAlgorithmOptions } from './algorithm/gigpo.ts';
export { GRPOAlgorithm, type GrpoDependencies, type GrpoOptions } from './algorithm/grpo.ts';
export { GSPOAlgorithm, type GspoOptions } from './algorithm/gspo.ts';
export { algorithmOptions } from './algorithm/layered-options.ts';
export { type AlgorithmOptions, algorithmSchema, comparingGroups } from './algorithm/options.ts';
export {
  type AlgorithmPlan,
  PolicyAlgorithm,
  type ProgressBar,
  type TrainOptions,
  type TrainResult,
} from './algorithm/policy-algorithm.ts';
export {
  PPOAlgorithm,
  type PpoCollectedDependencies,
  type PpoDependencies,
  type PpoOptions,
} from './algorithm/ppo.ts';
export type { PresetName } from './algorithm/presets.ts';
export { REINFORCEAlgorithm, type ReinforceOptions } from './algorithm/reinforce.ts';
export { RLOOAlgorithm, type RlooOptions } from './algorithm/rloo.ts';
export { algorithmSchemas } from './algorithm/schemas.ts';
export {
  type AdvantageEstimate,
  type BackpropDependencies,
  BackpropModule,
  type BackpropOptions,
  type BackpropUpdate,
  type PendingLoss,
} from './backprop-module.ts';
export type { GaeEstimatorOptions } from './estimator/critic-estimators.ts';
export type { ReinforceEstimatorOptions } from './estimator/return-estimators.ts';
export { groupFilters } from './loop/group-filters.ts';
export type {
  CriticOptions,
  EntropyControlOptions,
  FailureBudgetOptions,
  KlControlOptions,
  ReferenceUpdateOptions,
  ResolvedCriticOptions,
  ResolvedEntropyControlOptions,
  ResolvedFailureBudgetOptions,
  ResolvedKlControlOptions,
  ResolvedReferenceUpdateOptions,
  ResolvedRewardClipOptions,
  ResolvedRewardKlOptions,
  ResolvedRlLossOptions,
  ResolvedTokenSelectionOptions,
  RewardClipOptions,
  RewardKlOptions,
  RlLossOptions,
  TokenSelectionOptions,
} from './loop/option-groups.ts';
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
export { runRlTraining } from './loop/rl.ts';
export { RunStoppedError, type StopReason } from './loop/run-stopped.ts';
export type { PolicyColumn } from './loss/policy-loss.ts';
export type { DecisionNumbers } from './sequence/decision-numbers.ts';
export { type DemonstrationEncoding, demonstrationSequences } from './sequence/demonstration.ts';
export {
  type MaskedMessages,
  type MessageTokens,
  messageMasks,
  responseLength,
  type TrainedMessages,
} from './sequence/message-masks.ts';
export type { TokenRows } from './statistics/token-rows.ts';
export {
  type MaxLength,
  type ResolvedMaxLength,
  type WithinLength,
  withinLength,
} from './supervised/max-length.ts';
export {
  runSftTraining,
  type SftDependencies,
  type SftReport,
  type SftState,
  sftStateSchema,
} from './supervised/sft.ts';
export {
  type ResolvedSftOptions,
  resolveSftOptions,
  type SftOptions,
  sftSchema,
} from './supervised/sft-options.ts';
export type {
  BackendDeadlineOptions,
  BackendDeadlines,
  DeadlineOptions,
  Deadlines,
} from './training/deadlines.ts';
export type { ResumeOptions } from './training/resume-options.ts';
