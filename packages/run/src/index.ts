/** A run in one folder: its configuration, its training, its files. Needs Node. */
export type { RunAgentOptions } from './config/agent-schema.ts';
export type { RunSchedule } from './config/backend-schema.ts';
export { defineRun, runJsonSchema } from './config/check-run.ts';
export type { RunMode } from './config/modes.ts';
export { type Override, withOverrides } from './config/overrides.ts';
export { readRunFile, withPathsFrom } from './config/read-run.ts';
export type { DescribedReward, RunRewards } from './config/reward-schema.ts';
export { type ResolvedRunConfig, type RowMetadata, type RunConfig, runSchema } from './config/run-schema.ts';
export type { RewardName } from './config/stock-rewards.ts';
export { missingModel } from './folder/missing-model.ts';
export { type RunFiles, runFiles, savedModel } from './folder/run-files.ts';
export { isRunnable, type RunRecord, readRunRecord } from './folder/run-record.ts';
export type { RunSummary } from './folder/summary.ts';
export { type CheckedPairs, checkRunPairs } from './train/check-run-pairs.ts';
export { countLearned } from './train/count-learned.ts';
export { checkRunRewards, type RewardedAnswers } from './train/rewarded-answers.ts';
export { type RunResult, type TrainRunOptions, trainRun } from './train/train-run.ts';
