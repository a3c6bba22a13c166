import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type Metrics, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { type MonitorLogs, readMonitorLogs } from './files/read-logs.ts';
import { type MonitorPageOptions, renderMonitorPage } from './report/monitor-page.ts';

const schema = z.strictObject({
  metricsLogFile: z.string().min(1),
  alertLogFile: z.string().min(1).optional(),
});

/** The log files of a run, as `jsonlSink` writes them, rotated ones included. One that is not there counts as empty. */
export type DashboardOptions = z.input<typeof schema>;

/** Metrics as columns of equal length; `null` where a step has none. */
export interface MetricsColumns {
  readonly step: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
}

/**
 * Looks at a monitored run afterwards.
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

  /** What the files hold. @throws the system's error for a file that cannot be read. */
  async readLogs(): Promise<MonitorLogs> {
    const { metricsLogFile, alertLogFile } = this.#options;
    const [metrics, alerts] = await Promise.all([readWithOlder(metricsLogFile), readWithOlder(alertLogFile)]);
    return readMonitorLogs({ metrics, alerts });
  }

  /** Writes one HTML page that stands alone: complete, or not at all. */
  async generateReport(path: string, options: MonitorPageOptions = {}): Promise<void> {
    const page = renderMonitorPage(await this.readLogs(), options);
    try {
      await writeFile(`${path}.partial`, page);
      await rename(`${path}.partial`, path);
    } catch (error) {
      await rm(`${path}.partial`, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  /** Metrics by step: the rows of a data frame. */
  async getMetricsRows(): Promise<readonly ({ readonly step: number } & Metrics)[]> {
    const { metrics } = await this.readLogs();
    return metrics.map((row) => ({ ...row.metrics, step: row.step }));
  }

  /** The same as columns, as Arrow and data frames want them. */
  async getMetricsColumns(): Promise<MetricsColumns> {
    const { metrics } = await this.readLogs();
    const names = [...new Set(metrics.flatMap((row) => Object.keys(row.metrics)))];
    return {
      step: metrics.map(({ step }) => step),
      columns: Object.fromEntries(
        names.map((name) => [name, metrics.map((row) => row.metrics[name] ?? null)]),
      ),
    };
  }
}

/** A file after those that it was rotated to, `path.1` being the newest of them. */
async function readWithOlder(path: string | undefined): Promise<string> {
  if (path === undefined) return '';
  const texts = [(await readIfThere(path)) ?? ''];
  for (let age = 1; ; age++) {
    const older = await readIfThere(`${path}.${age}`);
    if (older === undefined) return texts.reverse().join('\n');
    texts.push(older);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

export { type MonitorPageOptions, renderMonitorPage } from './report/monitor-page.ts';
