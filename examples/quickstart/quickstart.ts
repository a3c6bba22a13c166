import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extractTag } from '@rlp/answers';
import { ArgumentError, RlpError } from '@rlp/core';
import {
  type RunConfig,
  type RunFiles,
  readRunRecord,
  runFiles,
  type TrainRunOptions,
  trainRun,
} from '@rlp/run';
import type { QuickstartOptions } from './options.ts';

/** A Llama of 0.8 million parameters. Its tokens are digits, `+`, `=`, `,` and four tags. */
const model = {
  create: {
    tokenizer: {
      characters: '0123456789+=,',
      others: ['<reasoning>', '</reasoning>', '<answer>', '</answer>'],
    },
    ...{ layers: 4, hiddenSize: 128, heads: 4, contextLength: 64 },
  },
} satisfies RunConfig['model'];

/** SFT on the demonstrations of a careless teacher, then GRPO with a reward for the answer and a small one for the form. */
function configuration(options: QuickstartOptions): RunConfig {
  const { seed, out, carelessness, threads, 'sft-updates': updates, 'held-out': heldOut } = options;
  const cosine = { kind: 'cosine', minimumRatio: 0.1 } as const;
  return {
    ...{ seed, output: out, model },
    data: { tasks: 'addition', options: { count: 6000, carry: 'needed', carelessness } },
    sft: {
      ...{ rows: 3000, updates, sequencesPerBatch: 64 },
      backend: { learningRate: 2e-3, schedule: { ...cosine, warmup: Math.min(20, updates - 1) } },
    },
    rewards: {
      accuracy: 'exactAnswer',
      format: { name: 'tagFormat', weight: 0.2, params: { tags: ['reasoning', 'answer'] } },
    },
    algorithm: {
      iterations: options['rl-iterations'],
      tasksPerIteration: options['rl-problems'],
      loss: { clipLow: 0.2, clipHigh: 0.28 },
      referenceKl: 'always',
      rollout: { groupSize: 8, sampling: { maxTokens: 40 } },
      backend: { learningRate: 3e-4, schedule: cosine },
    },
    backend: { tokensPerMicroBatch: 8192 },
    sampler: { maxSequences: 256 },
    evaluation: { heldOut },
    engine: { threads },
  };
}

/** Where progress goes, and what stops the run. */
export type QuickstartContext = Required<Pick<TrainRunOptions, 'signal' | 'stream'>>;

/** Runs both stages, from where an earlier run stopped. Progress and samples go to `stream`. */
export async function quickstart(options: QuickstartOptions, context: QuickstartContext) {
  const { stream, signal = new AbortController().signal } = context;
  if (!options.new) await requireWanted(options);
  const { summary, files } = await trainRun(configuration(options), {
    ...{ stream, signal },
    existing: options.new ? 'new' : 'resume',
  });
  if (summary === undefined) throw signal.reason;
  stream?.write(`\n${await sampleTable(files)}\n\n`);
  return summary;
}

/** @throws ArgumentError for an earlier run that the flags do not ask for. */
async function requireWanted({ out, seed, resume }: QuickstartOptions): Promise<void> {
  const earlier = await readRunRecord(runFiles(out).run);
  if (earlier === undefined) return;
  const { seeds, status, stages } = earlier;
  const stage = stages.rl === undefined ? 'SFT' : 'GRPO';
  const found = `quickstart: ${out} holds a run with seed ${seeds.run}`;
  if (!resume) {
    throw new ArgumentError(
      `${found}, ${status === 'finished' ? 'finished' : `stopped during ${stage}`}. Continue it with --seed ${seeds.run} ` +
        '--resume. Keep it and start another with --out DIR. Delete it and start anew with --new',
    );
  }
  if (seeds.run === seed) return;
  throw new ArgumentError(
    `${found}, and this command has seed ${seed}. Continue that run with --seed ${seeds.run} --resume, or start another ` +
      'with --out DIR',
  );
}

/** A line of `evaluations/NAME.jsonl`. */
interface Answered {
  readonly prompt: string;
  readonly answer: string;
  readonly response: string;
}

/** Six answers after each stage. */
async function sampleTable({ evaluations }: RunFiles): Promise<string> {
  const answersOf = async (name: string) => {
    const text = await readFile(join(evaluations, `${name}.jsonl`), 'utf8');
    const lines = text.split('\n').filter(Boolean).slice(0, 6);
    return lines.map((line) => JSON.parse(line) as Answered);
  };
  const [first, later] = [await answersOf('after-sft'), await answersOf('final')];
  const answerOf = extractTag('answer');
  const marked = ({ response, answer }: Answered) => {
    const shown = response.length > 62 ? `${response.slice(0, 61)}…` : response;
    return `${answerOf(response) === answer ? '✓' : '✗'} ${shown}`;
  };
  const table = [
    ['problem', 'sum', 'after SFT', 'after GRPO'],
    ...first.map((before, row) => [before.prompt, before.answer, marked(before), marked(later[row]!)]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return table.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
}

/** A share in percent: `99.0 %`. */
export const percent = (share = 0) => `${(100 * share).toFixed(1)} %`;

/** An expected error as one line. Others are bugs, whose stack helps. */
export function explained(error: unknown): unknown {
  if (error instanceof RlpError) return error.message;
  return error instanceof Error && 'syscall' in error ? `quickstart: ${error.message}` : error;
}
