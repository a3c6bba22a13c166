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
import { OptionsError } from '@rlp/core';
import { type Alone, type BenchName, type BenchOptions, benchArguments, names } from './bench/arguments.ts';
import { captureLines } from './bench/capture.ts';
import { compare, growth, knowsShape, measureHere, usualShapes } from './bench/compare.ts';
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

/** What is measured without a peer. */
const measurements: Readonly<Record<Alone, (options: BenchOptions) => AsyncGenerator<Line>>> = {
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
  const { help, here, options } = benchArguments(process.argv.slice(2));
  if (help) console.log(usage());
  else await measure(options, here);
} catch (error) {
  if (!(error instanceof OptionsError)) throw error;
  console.error(`bench: ${error.issues.join('; ')}; see pnpm bench --help`);
  process.exitCode = 2;
}

/** Prints the measurements. With a subject, the one of that subject in this very process. */
async function measure(options: BenchOptions, here: string): Promise<void> {
  if (here === '') for await (const line of lines(options)) console.log(JSON.stringify(line));
  else {
    const name = options.names[0] as BenchName | 'growth';
    console.log(JSON.stringify(await measureHere({ name, subject: here }, options)));
  }
}

/** Of every measurement asked for, in order. */
async function* lines(options: BenchOptions): AsyncGenerator<Line> {
  for (const name of options.names) {
    if (isCompared(name)) yield* comparisons(name, options);
    else yield* measurements[name](options);
  }
}

function isCompared(name: BenchName | Alone): name is BenchName {
  return names.includes(name as BenchName);
}

async function* comparisons(name: BenchName, options: BenchOptions): AsyncGenerator<Line> {
  for (const shape of options.shapes.length > 0 ? options.shapes : usualShapes[name]) {
    if (knowsShape(name, shape)) yield* compare(name, shape, options);
    else console.error(`bench: ${shape} is not a shape of ${name}`);
  }
}

async function* lossOverheads(options: BenchOptions): AsyncGenerator<Line> {
  for (const shape of options.shapes.length > 0 ? options.shapes : Object.keys(shapes)) {
    if (shape in shapes) yield* lossOverheadLines(shape as ShapeName, options);
    else console.error(`bench: ${shape} is not a shape of loss-overhead`);
  }
}
