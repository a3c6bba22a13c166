import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArgumentError, FormatError, type Metrics, RlpError } from '@rlp/core';
import { type MetricRow, metricRowsFromJsonl, renderReport } from '@rlp/tracking';
import * as z from 'zod';
import { answerOf, type Evaluation } from './addition.ts';
import type { QuickstartOptions } from './options.ts';

const response = z.strictObject({ prompt: z.string(), answer: z.string(), response: z.string() });
const evaluation = z.strictObject({ accuracy: z.number(), responses: z.array(response).readonly() });
const progressSchema = z.strictObject({
  seed: z.string(),
  /** Seconds of all processes of an interrupted run. */
  seconds: z.number(),
  parameters: z.number().optional(),
  before: evaluation.optional(),
  afterSft: evaluation.optional(),
});

/** Results so far: enough to finish the run in another process. */
export type Progress = z.output<typeof progressSchema>;

/** Reads the progress of an earlier process. @throws FormatError for a broken file, or one of another seed. */
export async function readProgress(path: string, seed: string): Promise<Progress> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return { seed, seconds: 0 };
  const parsed = z.preprocess(parseJson, progressSchema).safeParse(text);
  if (parsed.success && parsed.data.seed === seed) return parsed.data;
  throw new FormatError(
    `${path}: expected the progress of a run with seed "${seed}"; start without --resume`,
  );
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** All that a run writes. `progress.json` is written first and removed last. */
const written =
  'summary.json report.html metrics.jsonl metrics-sft.jsonl sft checkpoint checkpoints progress.json';

/** Removes an earlier run from a folder. @throws ArgumentError for a folder with other files. */
export async function clearRun(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0 && !names.includes('progress.json')) {
    throw new ArgumentError(
      `quickstart: ${directory} holds files that are not an earlier run's; choose an empty directory with --out`,
    );
  }
  for (const name of written.split(' ')) await rm(join(directory, name), { recursive: true, force: true });
}

/** Writes a file as a whole or not at all. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const partial = `${path}.partial`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(partial, text);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/** Path of a stage's metrics. */
export const metricsPath = ({ out }: QuickstartOptions, stage: 'sft' | 'rl') =>
  join(out, stage === 'sft' ? 'metrics-sft.jsonl' : 'metrics.jsonl');

/** A share in percent: `99.0 %`. */
export const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** Curves of the report. */
const curves =
  'reward/component/accuracy held-out/accuracy reward/mean reward_quality/suspected_reward_hacking kl/reference ' +
  'entropy/mean gradient/norm loss/sft';

/** Writes `summary.json` and `report.html`. Returns the summary and a table of answers for a terminal. */
export async function conclude(options: QuickstartOptions, progress: Progress, afterRl: Evaluation) {
  const { before, afterSft, seconds, parameters = 0 } = progress;
  if (before === undefined || afterSft === undefined) throw new RlpError('quickstart: SFT was not evaluated');
  const rowsOf = async (stage: 'sft' | 'rl') =>
    metricRowsFromJsonl(await readFile(metricsPath(options, stage), 'utf8'));
  const stages = { sft: await rowsOf('sft'), rl: await rowsOf('rl') };
  const sampled = (metrics: Metrics) =>
    (metrics['response/tokens'] ?? 0) * (metrics['trajectories/count'] ?? 0);
  const summary = {
    seed: options.seed,
    parameters,
    heldOutProblems: afterRl.responses.length,
    heldOutAccuracyBefore: before.accuracy,
    heldOutAccuracyAfterSft: afterSft.accuracy,
    heldOutAccuracyAfterRl: afterRl.accuracy,
    /** Training and evaluation, without installation. */
    seconds,
    sftSteps: stages.sft.length,
    rlSteps: stages.rl.length,
    /** Medians over updates and over iterations. */
    trainTokensPerSecond: speed(stages.sft, (metrics) => metrics['tokens/computed'] ?? 0, 'time/learn'),
    generateTokensPerSecond: speed(stages.rl, sampled, 'time/collect'),
  };
  await writeWhole(join(options.out, 'summary.json'), `${JSON.stringify(summary, undefined, 2)}\n`);
  await writeWhole(join(options.out, 'report.html'), report(summary, stages, samples(afterSft, afterRl, 12)));
  return { summary, table: sampleTable(samples(afterSft, afterRl, 6)) };
}

/** Contents of `summary.json`. */
export type Summary = Awaited<ReturnType<typeof conclude>>['summary'];

type Rows = readonly MetricRow[];

function report(summary: Summary, { sft, rl }: { sft: Rows; rl: Rows }, shown: ReturnType<typeof samples>) {
  return renderReport({
    title: 'A small language model learns to add',
    description:
      `${summary.parameters.toLocaleString('en')} parameters, trained on this machine. First the model imitates a teacher ` +
      'who often forgets to carry. Then GRPO rewards right answers. Accuracy is the share of exact answers to problems of ' +
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
      { name: 'GRPO', rows: rl },
      { name: 'SFT', rows: sft },
    ],
    metrics: curves.split(' ').filter((name) => [...rl, ...sft].some(({ metrics }) => name in metrics)),
    samples: shown,
  });
}

/** Median tokens per second. */
function speed(rows: Rows, tokens: (metrics: Metrics) => number, time: string): number {
  const rates = rows.map(({ metrics }) => tokens(metrics) / ((metrics[time] ?? 0) / 1000));
  const sorted = rates.filter(Number.isFinite).sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
}

function samples(before: Evaluation, after: Evaluation, count: number) {
  const reward = (said: string, answer: string) => (answerOf(said) === answer ? 1 : 0);
  return before.responses.slice(0, count).map(({ prompt, answer, response: first }, index) => {
    const later = after.responses[index]!.response;
    const rewards = { rewardBefore: reward(first, answer), rewardAfter: reward(later, answer) };
    return { prompt, reference: answer, before: first, after: later, ...rewards };
  });
}

function sampleTable(rows: ReturnType<typeof samples>): string {
  const shortened = (text: string) => (text.length > 64 ? `${text.slice(0, 63)}…` : text);
  const marked = (said: string, reward: number) => shortened(`${reward === 1 ? '✓' : '✗'} ${said}`);
  const table = [
    ['problem', 'sum', 'after SFT', 'after GRPO'],
    ...rows.map((row) => [
      ...[row.prompt, row.reference],
      ...[marked(row.before, row.rewardBefore), marked(row.after, row.rewardAfter)],
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
}
