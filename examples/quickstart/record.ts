import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArgumentError, FormatError, type Metrics, RlpError } from '@rlp/core';
import { holdDirectory, writeFiles } from '@rlp/data/store';
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

/** Reads the progress of an earlier process; `undefined` if none was saved. @throws FormatError for a broken file. */
async function readProgress(path: string): Promise<Progress | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const parsed = z.preprocess(parseJson, progressSchema).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new FormatError(
    `${path}: expected the progress of a run, and the file is broken; choose another folder with --out, or delete the run ` +
      'with --new',
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

/** What the flags say about a run that is in the folder. */
type Start = Pick<QuickstartOptions, 'out' | 'seed' | 'resume' | 'new'>;

/**
 * Progress to start from. An earlier run is continued with `--resume` and deleted with `--new`. The folder is held for this
 * process.
 *
 * @throws ArgumentError for an earlier run without one of the two, a run of another seed, or a folder with other files.
 * @throws DirectoryInUseError if another process writes there.
 */
export async function startFrom({ out, seed, resume, new: anew }: Start): Promise<Progress> {
  const names = await namesIn(out);
  const path = join(out, 'progress.json');
  if (names.length > 0 && !names.includes('progress.json')) {
    throw new ArgumentError(
      `quickstart: ${out} holds files that are not an earlier run's; choose an empty directory with --out`,
    );
  }
  const earlier = anew ? undefined : await readProgress(path);
  if (earlier !== undefined) requireWanted(earlier, names, { out, seed, resume });
  await holdDirectory(out);
  if (anew) {
    for (const name of written.split(' ')) await rm(join(out, name), { recursive: true, force: true });
  }
  return earlier ?? { seed, seconds: 0 };
}

function requireWanted(
  earlier: Progress,
  names: readonly string[],
  { out, seed, resume }: Omit<Start, 'new'>,
): void {
  if (!resume) {
    throw new ArgumentError(
      `quickstart: ${out} holds a run with seed ${earlier.seed}, ${stageOf(earlier, names)}. Continue it with ` +
        `--seed ${earlier.seed} --resume. Keep it and start another with --out DIR. Delete it and start anew with --new`,
    );
  }
  if (earlier.seed === seed) return;
  throw new ArgumentError(
    `quickstart: ${out} holds a run with seed ${earlier.seed}, and this command has seed ${seed}. Continue that run with ` +
      `--seed ${earlier.seed} --resume, or start another with --out DIR`,
  );
}

function stageOf({ before, afterSft }: Progress, names: readonly string[]): string {
  if (names.includes('summary.json')) return 'finished';
  if (afterSft !== undefined) return 'stopped during GRPO';
  return before === undefined ? 'stopped before training' : 'stopped during SFT';
}

/** Names in a directory without hidden ones. */
async function namesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => !name.startsWith('.'));
}

/** Writes a file as a whole or not at all. */
export function writeWhole(path: string, text: string): Promise<void> {
  return writeFiles(new Map([[path, (temporary: string) => writeFile(temporary, text)]]));
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
