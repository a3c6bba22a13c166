/** The report of a monitored run. Runs anywhere JavaScript does. */
export {
  type MetricsRecord,
  type MonitorLogs,
  type NoteRecord,
  readMonitorLogs,
} from './files/read-logs.ts';
export { type MonitorPageOptions, renderMonitorPage } from './report/monitor-page.ts';
