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
