import { existsSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { ArgumentError } from '@rlp/core';
import {
  type AssessorOptions,
  formatFinding,
  type MonitoredBatch,
  RewardQualityAssessor,
  RewardQualityMonitor,
  rewardHackingDetector,
} from '@rlp/quality-monitor';
import { RewardQualityDashboard, readSavedResponses, type SavedResponse } from '@rlp/quality-monitor/files';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';

const dataOf = ({ data }: { readonly data?: unknown }) => data as CliContext;

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
    const { print, printError } = dataOf({ data });
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
        : `${args.out}: ${result.batches} batches, ${result.alerts} alerts${unreadable > 0 ? `, ${unreadable} unreadable lines skipped` : ''}`,
    );
  },
});

/** `rlp monitor analyze`. */
export const analyzeCommand = defineCommand({
  meta: { name: 'analyze', description: 'Assess saved responses' },
  args: {
    file: {
      type: 'positional',
      description:
        'JSON Lines: {"response": "…", "rewards": {"accuracy": 1}, "prompt": "…"}, or trajectories',
      required: true,
    },
    'batch-size': {
      type: 'string',
      description: 'Responses per batch',
      default: '64',
      valueHint: 'N',
    },
    'min-samples': {
      type: 'string',
      description: 'Responses before the first alert',
      default: '1',
      valueHint: 'N',
    },
    tags: {
      type: 'string',
      description: 'Tags of reasoning and answer; "none" for plain text',
      default: 'reasoning,answer',
      valueHint: 'A,B',
    },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print, printError } = dataOf({ data });
    const batchSize = wholeNumber('batch-size', args['batch-size']);
    const minSamplesForAnalysis = wholeNumber('min-samples', args['min-samples']);
    const tags = tagsOf(args.tags);
    const saved = readSavedResponses(await readFile(args.file, 'utf8'), args.file);
    if (saved.length === 0)
      throw new ArgumentError(`rlp monitor analyze: ${args.file} contains no responses`);
    const monitor = new RewardQualityMonitor({
      assessor: new RewardQualityAssessor({ minSamplesForAnalysis, tags }),
      detectors: [rewardHackingDetector()],
      config: {
        interventionSeverity: 'low',
        maxAlertsPerWindow: Number.MAX_SAFE_INTEGER,
        customAlertCallback: (finding, batch) => {
          const [first, last] = [batch * batchSize + 1, Math.min(saved.length, (batch + 1) * batchSize)];
          if (!args.json) print(`responses ${first}–${last}: ${formatFinding(finding)}`);
        },
      },
      onFailure: printError,
    });
    for (let start = 0; start < saved.length; start += batchSize) {
      monitor.monitorBatch(batchOf(saved.slice(start, start + batchSize)));
    }
    const summary = monitor.getMonitoringSummary();
    print(args.json ? JSON.stringify(summary) : JSON.stringify(summary, undefined, 2));
  },
});

function tagsOf(text: string): AssessorOptions['tags'] {
  const [reasoning, answer, ...more] = text.split(',');
  if (text === 'none') return 'none';
  if (reasoning && answer && more.length === 0) return { reasoning, answer };
  throw new ArgumentError(
    `rlp: expected --tags to be two names, such as reasoning,answer, or none, got ${JSON.stringify(text)}`,
  );
}

function batchOf(saved: readonly SavedResponse[]): MonitoredBatch {
  const names = [...new Set(saved.flatMap(({ rewards }) => Object.keys(rewards)))];
  const hasPrompts = saved.every(({ prompt }) => prompt !== undefined);
  return {
    responses: saved.map(({ response }) => response),
    rewards: Object.fromEntries(
      names.map((name) => [name, saved.map(({ rewards }) => rewards[name] ?? null)]),
    ),
    ...(hasPrompts && { prompts: saved.map(({ prompt }) => prompt ?? '') }),
  };
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new ArgumentError(
    `rlp: expected --${flag} to be a whole number above 0, got ${JSON.stringify(text)}`,
  );
}
