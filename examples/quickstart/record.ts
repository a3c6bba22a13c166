import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metrics } from '@rlp/core';
import { extractTag } from '@rlp/rewards';
import { type MetricRow, metricRowsFromJsonl, renderReport } from '@rlp/tracking';
import type { Evaluation } from './evaluate.ts';
import { writeWhole } from './progress.ts';

/** The contract of `summary.json`. */
export interface Summary {
  readonly seed: string;
  readonly parameters: number;
  readonly heldOutProblems: number;
  readonly heldOutAccuracyBefore: number;
  readonly heldOutAccuracyAfterSft: number;
  readonly heldOutAccuracyAfterRl: number;
  /** Training and evaluation, without installation. */
  readonly seconds: number;
  readonly sftSteps: number;
  readonly rlSteps: number;
  /** Medians: over supervised updates, and over RL iterations. */
  readonly trainTokensPerSecond: number;
  readonly generateTokensPerSecond: number;
}

/** What the stages measured. */
export interface Stages {
  readonly sft: readonly MetricRow[];
  readonly rl: readonly MetricRow[];
}

/** A share as a reader expects it: `99.0 %`. */
export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

const answerOf = extractTag('answer');

/** Median tokens per second: supervised updates (forward, backward, optimizer) and sampling. */
export function throughput(stages: Stages): { readonly train: number; readonly generate: number } {
  const rate = (rows: readonly MetricRow[], tokens: (metrics: Metrics) => number, time: string) =>
    median(
      rows.map(({ metrics }) => tokens(metrics) / ((metrics[time] ?? 0) / 1000)).filter(Number.isFinite),
    );
  const sampled = (metrics: Metrics) =>
    (metrics['response/tokens'] ?? 0) * (metrics['trajectories/count'] ?? 0);
  return {
    train: rate(stages.sft, (metrics) => metrics['tokens/computed'] ?? 0, 'time/learn'),
    generate: rate(stages.rl, sampled, 'time/collect'),
  };
}

function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
}

/** The metrics a stage wrote. */
export async function readRows(path: string): Promise<readonly MetricRow[]> {
  return metricRowsFromJsonl(await readFile(path, 'utf8'));
}

/** Writes `summary.json` and `report.html`. */
export async function writeRecord(
  out: string,
  summary: Summary,
  stages: Stages,
  evaluations: { readonly afterSft: Evaluation; readonly afterRl: Evaluation },
): Promise<void> {
  await writeWhole(join(out, 'summary.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  const page = renderReport({
    title: 'A small language model learns to add',
    description:
      `${summary.parameters.toLocaleString('en')} parameters, trained on this machine: first imitating a teacher who often ` +
      'forgets to carry, then by GRPO with a reward for right answers. Accuracies are exact answers to problems seen in ' +
      'neither stage.',
    summary: {
      'accuracy before': percent(summary.heldOutAccuracyBefore),
      'after SFT': percent(summary.heldOutAccuracyAfterSft),
      'after GRPO': percent(summary.heldOutAccuracyAfterRl),
      seconds: Math.round(summary.seconds),
      'training tokens/s': summary.trainTokensPerSecond,
      'generated tokens/s': summary.generateTokensPerSecond,
    },
    runs: [
      { name: 'GRPO', rows: stages.rl },
      { name: 'SFT', rows: stages.sft },
    ],
    metrics: [
      'reward/component/accuracy',
      'held-out/accuracy',
      'reward/mean',
      'reward_quality/suspected_reward_hacking',
      'kl/reference',
      'entropy/mean',
      'gradient/norm',
      'loss/sft',
    ].filter((name) => [...stages.rl, ...stages.sft].some(({ metrics }) => name in metrics)),
    samples: samples(evaluations.afterSft, evaluations.afterRl, 12),
  });
  await writeWhole(join(out, 'report.html'), page);
}

function samples(before: Evaluation, after: Evaluation, count: number) {
  const reward = (response: string, answer: string) => (answerOf(response) === answer ? 1 : 0);
  return before.responses.slice(0, count).map(({ prompt, answer, response }, index) => {
    const later = after.responses[index]!.response;
    return {
      prompt,
      reference: answer,
      before: response,
      after: later,
      rewardBefore: reward(response, answer),
      rewardAfter: reward(later, answer),
    };
  });
}

/** Answers before and after, as lines for a terminal. */
export function sampleTable(before: Evaluation, after: Evaluation, count = 6): string {
  const rows = samples(before, after, count).map((sample) => [
    sample.prompt,
    sample.reference,
    `${sample.rewardBefore === 1 ? '✓' : '✗'} ${sample.before}`,
    `${sample.rewardAfter === 1 ? '✓' : '✗'} ${sample.after}`,
  ]);
  const table = [['problem', 'sum', 'after SFT', 'after GRPO'], ...rows].map((row) => row.map(shortened));
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
}

/** A model that has learnt little repeats itself to the end. */
function shortened(text: string): string {
  return text.length > 64 ? `${text.slice(0, 63)}…` : text;
}
