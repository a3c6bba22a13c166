import { existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { ArgumentError, plural } from '@rlp/core';
import { RewardQualityDashboard } from '@rlp/quality-monitor/files';
import { defineCommand } from 'citty';
import type { CliContext } from '../context.ts';

/** `rlp monitor report`. */
export const reportCommand = defineCommand({
  meta: { name: 'report', description: 'Make an HTML report of a monitored run' },
  args: {
    metrics: { type: 'string', description: 'Metrics log, JSON Lines', required: true, valueHint: 'FILE' },
    alerts: { type: 'string', description: 'Alert log, JSON Lines', valueHint: 'FILE' },
    out: { type: 'string', description: 'File of the report', default: 'report.html', valueHint: 'FILE' },
    title: { type: 'string', description: 'Title of the report', valueHint: 'TEXT' },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print, printError } = data as CliContext;
    const dashboard = new RewardQualityDashboard({
      metricsLogFile: args.metrics,
      alertLogFile: args.alerts,
    });
    const { metrics, findings, unreadable } = await dashboard.readLogs();
    if (metrics.length === 0 && findings.length === 0) {
      await access(args.metrics);
      throw new ArgumentError(
        `rlp monitor report: ${args.metrics} contains no metrics; pass the metrics log of a monitor`,
      );
    }
    await dashboard.generateReport(args.out, args.title === undefined ? {} : { title: args.title });
    if (args.alerts !== undefined && !existsSync(args.alerts)) {
      printError(`rlp monitor report: no alerts found, because ${args.alerts} does not exist`);
    }
    const result = { out: args.out, batches: metrics.length, alerts: findings.length, unreadable };
    print(
      args.json
        ? JSON.stringify(result)
        : `${args.out}: ${plural(result.batches, 'batch', 'batches')}, ${plural(result.alerts, 'alert')}${unreadable > 0 ? `, ${plural(unreadable, 'unreadable line')} skipped` : ''}`,
    );
  },
});
