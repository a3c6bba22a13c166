export {
  type DashboardOptions,
  type MetricsColumns,
  RewardQualityDashboard,
} from './files/dashboard.ts';
export { type MonitorLoggerOptions, monitorLogger } from './files/monitor-logger.ts';
export {
  readSavedResponses,
  rewardNameOf,
  type SavedFields,
  type SavedResponse,
  streamSavedResponses,
} from './files/saved-responses.ts';
