export {
  type Assessment,
  type AssessmentSummary,
  RewardQualityAssessor,
  type SavedAssessor,
} from './assessor/assessor.ts';
export type { AssessedBatch } from './assessor/batch.ts';
export { flatMetrics, type RewardQualityMetrics } from './assessor/metrics.ts';
export type { AssessorOptions, ResolvedAssessorOptions } from './assessor/options.ts';
export { formatFinding, type Pathology, pathologies, pathologyNotes } from './assessor/pathology.ts';
export type { RewardStatistics } from './assessor/reward-window.ts';
export { type RewardHackingDetector, rewardHackingDetector } from './hacking/detector.ts';
export { changedRule, hackingRule } from './hacking/findings.ts';
export type { ResolvedRewardHackingOptions, RewardHackingOptions } from './hacking/options.ts';
export type { MonitoredBatch } from './monitor/batch.ts';
export { type ConsoleAlertsOptions, consoleAlerts } from './monitor/console-alerts.ts';
export { createDefaultMonitor, type DefaultMonitorOptions } from './monitor/create-default-monitor.ts';
export {
  type MonitoringSummary,
  RewardQualityMonitor,
  type RewardQualityMonitorParts,
  type SavedMonitor,
} from './monitor/monitor.ts';
export {
  type AnyReward,
  createMonitoredRewardFunctions,
  type Monitored,
  type MonitoredRewardFunctions,
  type MonitoredRewardOptions,
  monitoredReward,
  monitoredRewards,
} from './monitor/monitored-rewards.ts';
export type {
  InterventionAction,
  InterventionConfig,
  ResolvedInterventionConfig,
} from './monitor/options.ts';
