import { type Metrics, parseOptions } from '@rlp/core';
import { readRotated } from '@rlp/data/files';
import { writeTextFile } from '@rlp/data/store';
import * as z from 'zod';
import { type MonitorPageOptions, renderMonitorPage } from '../report/monitor-page.ts';
import { type MonitorLogs, readMonitorLogs } from './read-logs.ts';

const schema = z.strictObject({
  /** Metrics log of `monitorLogger`. */
  metricsLogFile: z.string().min(1),
  /** Log of findings and notes. Default none. */
  alertLogFile: z.string().min(1).optional(),
});

/** Log files of a run. Rotated files are included. A missing file counts as empty. */
export interface DashboardOptions extends z.input<typeof schema> {}

/** Metrics as columns of equal length. `null` where a step lacks a metric. */
export interface MetricsColumns {
  readonly step: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
}

/**
 * Reads the log files of a monitored run.
 *
 * @example
 * const dashboard = new RewardQualityDashboard({ metricsLogFile, alertLogFile });
 * await dashboard.generateReport('report.html');
 */
export class RewardQualityDashboard {
  readonly #options: z.output<typeof schema>;

  /** @throws OptionsError for bad options. */
  constructor(options: DashboardOptions) {
    this.#options = parseOptions('RewardQualityDashboard', schema, options);
  }

  /** Contents of the files. @throws the system's error if a file cannot be read. */
  async readLogs(): Promise<MonitorLogs> {
    const { metricsLogFile, alertLogFile } = this.#options;
    const metrics = await readRotated(metricsLogFile);
    const alerts = alertLogFile === undefined ? '' : await readRotated(alertLogFile);
    return readMonitorLogs({ metrics, alerts });
  }

  /** Writes the report as one self-contained HTML file. A failed write leaves no partial file. */
  async generateReport(path: string, options: MonitorPageOptions = {}): Promise<void> {
    await writeTextFile(path, renderMonitorPage(await this.readLogs(), options));
  }

  /** Metrics by step, as the rows of a data frame. */
  async getMetricsRows(): Promise<readonly ({ readonly step: number } & Metrics)[]> {
    const { metrics } = await this.readLogs();
    return metrics.map((row) => ({ ...row.metrics, step: row.step }));
  }

  /** Metrics as columns, for Arrow and data frames. */
  async getMetricsColumns(): Promise<MetricsColumns> {
    const { metrics } = await this.readLogs();
    const names = new Set(metrics.flatMap((row) => Object.keys(row.metrics)));
    const cell = (of: Metrics, name: string) => (Object.hasOwn(of, name) ? of[name]! : null);
    const columns = Array.from(names, (name) => [name, metrics.map((row) => cell(row.metrics, name))]);
    return { step: metrics.map(({ step }) => step), columns: Object.fromEntries(columns) };
  }
}
