export {
  formatAlert,
  type PathologyAlert,
  type PathologyNote,
  type PathologyType,
  pathologyNotes,
  pathologyTypes,
} from './assessor/alert.ts';
export {
  type AssessedBatch,
  type Assessment,
  type AssessmentSummary,
  RewardQualityAssessor,
} from './assessor/assessor.ts';
export { flatMetrics, type RewardQualityMetrics } from './assessor/metrics.ts';
export type {
  AlertThresholds,
  AssessorOptions,
  ResolvedAssessorOptions,
} from './assessor/options.ts';
export type { RewardStatistics } from './assessor/reward-window.ts';
export { hackingRule } from './hacking/alarm.ts';
export { rewardHackingDetector } from './hacking/detector.ts';
export type { ResolvedRewardHackingOptions, RewardHackingOptions } from './hacking/options.ts';
export { type ConsoleSinkOptions, consoleSink } from './monitor/console-sink.ts';
export { createDefaultMonitor, type DefaultMonitorOptions } from './monitor/create-default-monitor.ts';
export {
  type MonitoredBatch,
  type MonitoringSummary,
  RewardQualityMonitor,
  type RewardQualityMonitorParts,
} from './monitor/monitor.ts';
export {
  type BatchReward,
  createMonitoredRewardFunctions,
  type Monitored,
  type MonitoredRewardFunctions,
  type MonitoredRewardOptions,
  monitoredBatchReward,
  monitoredReward,
  type PointwiseReward,
} from './monitor/monitored-rewards.ts';
export type {
  InterventionAction,
  InterventionConfig,
  ResolvedInterventionConfig,
} from './monitor/options.ts';
export { RewardFunctionRegistry } from './monitor/reward-registry.ts';
export type { AlertRecord, InterventionRecord, MonitorRecord, MonitorSink } from './monitor/sink.ts';
export { type WandbRun, type WandbSinkOptions, wandbSink } from './monitor/wandb-sink.ts';
