/**
 * `pnpm bench [NAME …]`: speed and memory, one JSON line for each measurement.
 *
 *     pnpm bench train-step generate iteration [--shape S,M,L] [--peer PYTHON] [--rounds 3] [--runs 5] [--warmup 2] [--threads 2]
 *                [--weights shared|packed|int8|float16] [--profiling runs|operators] [--provider cpu|webgpu|cuda]
 *
 * These three are measured beside PyTorch, `iteration` beside TRL: as installed, at its strongest in float32 and in bfloat16.
 * Each measurement has a process of its own. Sides take turns, `rounds` times `runs` each, and the ratio is that of the medians.
 * The peer is the interpreter of `--peer` or RLP_BENCH_PYTHON. Without one, a line says what is missing. Further shapes are
 * in bench/shapes.ts and bench/iteration/job.ts.
 *
 * | name               | measures                                                               |
 * | ------------------ | ---------------------------------------------------------------------- |
 * | `train-step`       | a training step: forward, loss, backward, AdamW                        |
 * | `generate`         | sampling with logprobs                                                 |
 * | `iteration`        | a whole GRPO iteration                                                 |
 * | `growth`           | time and memory against what grows, as a plot with `--plot FILE.svg`   |
 * | `math`             | advantages and losses on plain arrays                                  |
 * | `loss-overhead`    | what the loss costs in a training step (`--shape M`)                   |
 * | `rewards`          | episodes per second through the reward processor                       |
 * | `reward-workers`   | rewards in threads                                                     |
 * | `external-rewards` | requests under way at a reward model                                   |
 * | `monitor`          | responses per second assessed                                          |
 * | `rollout`          | how busy rollouts keep a sampler, and what their scheduling costs      |
 * | `capture`          | what a capture adds to a request                                       |
 * | `remote`           | what sampling over HTTP costs                                          |
 * | `hacks`            | what reward hacks earn from the stock graders, with `--round` of one   |
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { messageOf, OptionsError, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { captureLines } from './bench/capture.ts';
import {
  type BenchName,
  compare,
  growth,
  knowsShape,
  measureHere,
  names,
  usualShapes,
} from './bench/compare.ts';
import { externalRewardLines } from './bench/external-rewards.ts';
import { hackLines } from './bench/hacks/run.ts';
import { lossOverheadLines } from './bench/loss-overhead.ts';
import { mathLines } from './bench/math.ts';
import { monitorLines } from './bench/monitor.ts';
import { remoteLines } from './bench/remote.ts';
import type { Line } from './bench/report.ts';
import { rewardWorkerLines } from './bench/reward-workers.ts';
import { rewardLines } from './bench/rewards.ts';
import { rolloutLines } from './bench/rollout.ts';
import { type ShapeName, shapes } from './bench/shapes.ts';

const config = {
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    // Default: those of `usualShapes`.
    shape: { type: 'string', default: '' },
    peer: { type: 'string', default: process.env.RLP_BENCH_PYTHON ?? '' },
    rounds: { type: 'string', default: '3' },
    runs: { type: 'string', default: '5' },
    warmup: { type: 'string', default: '2' },
    threads: { type: 'string', default: '2' },
    weights: { type: 'string', default: 'shared' },
    profiling: { type: 'string', default: 'runs' },
    provider: { type: 'string', default: 'cpu' },
    // What `rewards` streams to see whether memory stays flat.
    episodes: { type: 'string', default: '1000000' },
    // The same for `monitor`.
    batches: { type: 'string', default: '20000' },
    // Round of attacks that `hacks` runs. Default: all.
    round: { type: 'string', default: '' },
    // SVG file that `growth` draws. Default none.
    plot: { type: 'string', default: '' },
    // One measurement of this subject in this very process; what `bench` starts for each of ours.
    here: { type: 'string', default: '' },
  },
} as const;

const alone = [
  'growth',
  'math',
  'loss-overhead',
  'rewards',
  'reward-workers',
  'external-rewards',
  'monitor',
  'rollout',
  'capture',
  'remote',
  'hacks',
] as const;
type Alone = (typeof alone)[number];

const count = z.coerce.number().int().positive();
const schema = z.object({
  names: z
    .array(z.enum([...names, ...alone]))
    .transform((given): (BenchName | Alone)[] => (given.length > 0 ? given : [...names])),
  shapes: z.array(z.string()),
  peer: z.string(),
  plot: z.string(),
  round: z.string(),
  rounds: count,
  runs: count,
  warmup: z.coerce.number().int().nonnegative(),
  threads: count,
  episodes: count,
  batches: count,
  weights: z.enum(['shared', 'packed', 'int8', 'float16']),
  profiling: z.enum(['runs', 'operators']),
  provider: z.enum(['cpu', 'webgpu', 'cuda']),
});
/** What is measured without a peer. */
const measurements: Readonly<Record<Alone, (options: Options) => AsyncGenerator<Line>>> = {
  growth,
  math: mathLines,
  'loss-overhead': lossOverheads,
  rewards: rewardLines,
  'reward-workers': rewardWorkerLines,
  'external-rewards': () => externalRewardLines(),
  monitor: monitorLines,
  rollout: () => rolloutLines(),
  capture: () => captureLines(),
  remote: () => remoteLines(),
  hacks: ({ round }) => hackLines(round),
};
const usage = () => {
  const [comment = ''] = readFileSync(new URL(import.meta.url), 'utf8').split('*/');
  return comment
    .replace('/**\n', '')
    .replaceAll(/^ \* ?/gm, '')
    .trimEnd();
};

try {
  const { values, positionals } = parseArgs(config);
  const { help, here, shape, ...given } = values;
  const options = { ...given, names: positionals, shapes: shape.split(',').filter(Boolean) };
  if (help) console.log(usage());
  else await measure(parseOptions('bench', schema, options), here);
} catch (error) {
  const isArgument = String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS');
  if (!isArgument && !(error instanceof OptionsError)) throw error;
  const problem = error instanceof OptionsError ? error.issues.join('; ') : messageOf(error).split('. ')[0];
  console.error(`bench: ${problem}; see pnpm bench --help`);
  process.exitCode = 2;
}

type Options = z.output<typeof schema>;

/** Prints the measurements. With a subject, the one of that subject in this very process. */
async function measure(options: Options, here: string): Promise<void> {
  if (here === '') for await (const line of lines(options)) console.log(JSON.stringify(line));
  else {
    const name = options.names[0] as BenchName | 'growth';
    console.log(JSON.stringify(await measureHere({ name, subject: here }, options)));
  }
}

/** Of every measurement asked for, in order. */
async function* lines(options: Options): AsyncGenerator<Line> {
  for (const name of options.names) {
    if (isCompared(name)) yield* comparisons(name, options);
    else yield* measurements[name](options);
  }
}

function isCompared(name: BenchName | Alone): name is BenchName {
  return names.includes(name as BenchName);
}

async function* comparisons(name: BenchName, options: Options): AsyncGenerator<Line> {
  for (const shape of options.shapes.length > 0 ? options.shapes : usualShapes[name]) {
    if (knowsShape(name, shape)) yield* compare(name, shape, options);
    else console.error(`bench: ${shape} is not a shape of ${name}`);
  }
}

async function* lossOverheads(options: Options): AsyncGenerator<Line> {
  for (const shape of options.shapes.length > 0 ? options.shapes : Object.keys(shapes)) {
    if (shape in shapes) yield* lossOverheadLines(shape as ShapeName, options);
    else console.error(`bench: ${shape} is not a shape of loss-overhead`);
  }
}
