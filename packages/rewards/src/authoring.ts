/** Writing your own rewards and verifiers, and trying them out. */
export * from './authoring/dry-run.ts';
export type {
  AuthoredStatistics,
  Evaluation,
  Judgement,
  RewardContext,
  RewardInput,
} from './authoring/judgement.ts';
export * from './authoring/reward.ts';
export * from './authoring/sandboxed-rewards.ts';
export * from './authoring/verifier.ts';
