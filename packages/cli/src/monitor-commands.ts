import { existsSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { ArgumentError } from '@rlp/core';
import {
  type AssessorOptions,
  formatAlert,
  type MonitoredBatch,
  RewardQualityAssessor,
  RewardQualityMonitor,
  rewardHackingDetector,
} from '@rlp/quality-monitor';
import { RewardQualityDashboard } from '@rlp/quality-monitor/dashboard';
import { readSavedResponses, type SavedResponse } from '@rlp/quality-monitor/files';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';

const dataOf = ({ data }: { readonly data?: unknown }) => data as CliContext;

/** `rlp monitor report`. */
export const reportCommand = defineCommand({
  meta: { name: 'report', description: 'Make a page of what a monitor logged' },
  args: {
    metrics: { type: 'string', description: 'Metrics log, JSON Lines', required: true, valueHint: 'FILE' },
    alerts: { type: 'string', description: 'Alert log, JSON Lines', valueHint: 'FILE' },
    out: { type: 'string', description: 'Where the page goes', default: 'report.html', valueHint: 'FILE' },
    title: { type: 'string', description: 'Title of the page', valueHint: 'TEXT' },
    json: { type: 'boolean', description: 'Tell the result as JSON' },
  },
  async run({ args, data }) {
    const { say, complain } = dataOf({ data });
    const dashboard = new RewardQualityDashboard({
      metricsLogFile: args.metrics,
      alertLogFile: args.alerts,
    });
    const { metrics, alerts, unreadable } = await dashboard.readLogs();
    if (metrics.length === 0 && alerts.length === 0) {
      await access(args.metrics);
      throw new ArgumentError(
        `rlp monitor report: ${args.metrics} holds no metrics; is it the file that the monitor wrote?`,
      );
    }
    await dashboard.generateReport(args.out, args.title === undefined ? {} : { title: args.title });
    if (args.alerts !== undefined && !existsSync(args.alerts)) {
      complain(`rlp monitor report: there is no ${args.alerts}, as there is none of a run without alerts`);
    }
    const result = { out: args.out, batches: metrics.length, alerts: alerts.length, unreadable };
    say(
      args.json
        ? JSON.stringify(result)
        : `${args.out}: ${result.batches} batches, ${result.alerts} alerts${unreadable > 0 ? `, ${unreadable} unreadable lines left out` : ''}`,
    );
  },
});

/** `rlp monitor analyze`. */
export const analyzeCommand = defineCommand({
  meta: { name: 'analyze', description: 'Assess responses that were saved' },
  args: {
    file: {
      type: 'positional',
      description:
        'JSON Lines: {"response": "…", "rewards": {"accuracy": 1}, "prompt": "…"}, or trajectories',
      required: true,
    },
    'batch-size': {
      type: 'string',
      description: 'Responses assessed together',
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
    json: { type: 'boolean', description: 'Tell the result as JSON' },
  },
  async run({ args, data }) {
    const { say, complain } = dataOf({ data });
    const batchSize = wholeNumber('batch-size', args['batch-size']);
    const minSamplesForAnalysis = wholeNumber('min-samples', args['min-samples']);
    const tags = tagsOf(args.tags);
    const saved = readSavedResponses(await readFile(args.file, 'utf8'), args.file);
    if (saved.length === 0) throw new ArgumentError(`rlp monitor analyze: ${args.file} holds no responses`);
    const monitor = new RewardQualityMonitor({
      assessor: new RewardQualityAssessor({ minSamplesForAnalysis, tags }),
      detectors: [rewardHackingDetector()],
      config: {
        interventionSeverity: 'low',
        maxAlertsPerWindow: Number.MAX_SAFE_INTEGER,
        customAlertCallback: (alert) => args.json || say(formatAlert(alert)),
      },
      onFailure: complain,
    });
    for (let start = 0; start < saved.length; start += batchSize) {
      monitor.monitorBatch(batchOf(saved.slice(start, start + batchSize)));
    }
    const summary = monitor.getMonitoringSummary();
    say(args.json ? JSON.stringify(summary) : JSON.stringify(summary, undefined, 2));
  },
});

function tagsOf(text: string): AssessorOptions['tags'] {
  const [reasoning, answer, ...more] = text.split(',');
  if (text === 'none') return 'none';
  if (reasoning && answer && more.length === 0) return { reasoning, answer };
  throw new ArgumentError(
    `rlp: --tags must be two names, such as reasoning,answer, or none, got ${JSON.stringify(text)}`,
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
  throw new ArgumentError(`rlp: --${flag} must be a whole number above 0, got ${JSON.stringify(text)}`);
}
