/** The report of a monitored run, anywhere JavaScript runs. */
export { type MetricsRecord, type MonitorLogs, readMonitorLogs } from './files/read-logs.ts';
export { type MonitorPageOptions, renderMonitorPage } from './report/monitor-page.ts';
