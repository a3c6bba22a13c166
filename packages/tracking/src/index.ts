export { compositeLogger } from './composite-logger.ts';
export { type ConsoleLoggerOptions, type ConsoleStream, consoleLogger } from './console-logger.ts';
export { JsonlLogger, type JsonlLoggerOptions } from './jsonl-logger.ts';
export { type MetricRow, metricRowsFromJsonl, metricRowToLine } from './metric-rows.ts';
export { defaultColumns, type ProgressColumn } from './progress-line.ts';
export { type ReportOptions, type ReportRun, renderReport } from './report/report.ts';
export type { ReportSample } from './report/sample.ts';
