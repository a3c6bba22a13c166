/** Writing rewards and verifiers of one's own, and trying them out. */
export {
  type DryRunExample,
  type DryRunFinding,
  type DryRunFindingKind,
  type DryRunOptions,
  type DryRunReport,
  type DryRunReward,
  type DryRunSubject,
  dryRun,
} from './authoring/dry-run.ts';
export { formatDryRun } from './authoring/format-dry-run.ts';
export type {
  AuthoredStatistics,
  Evaluation,
  Judgement,
  RewardContext,
  RewardInput,
} from './authoring/judgement.ts';
export {
  type BatchReward,
  type BatchRewardDefinition,
  type PointwiseReward,
  type PointwiseRewardDefinition,
  reward,
} from './authoring/reward.ts';
export {
  type SandboxedRewards,
  type SandboxedRewardsOptions,
  type SandboxedRewardsStatistics,
  sandboxedRewards,
} from './authoring/sandboxed-rewards.ts';
export {
  type AuthoredVerifier,
  type VerifierDefinition,
  type VerifierJudgement,
  verifier,
} from './authoring/verifier.ts';
