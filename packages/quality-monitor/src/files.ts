export { type JsonlSinkOptions, jsonlSink } from './files/jsonl-sink.ts';
export { type MetricsRecord, type MonitorLogs, readMonitorLogs } from './files/read-logs.ts';
export { readSavedResponses, type SavedResponse } from './files/saved-responses.ts';
