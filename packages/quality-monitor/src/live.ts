export { type LiveMonitor, type LiveMonitorOptions, serveMonitor } from './serve/serve-monitor.ts';
