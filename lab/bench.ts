/**
 * `pnpm bench train-step generate`: speed and memory on three shapes, beside PyTorch. `pnpm bench math`: advantages and losses
 * on plain arrays. `pnpm bench loss-overhead --shape M`: what the loss costs in a training step. `pnpm bench rewards`: episodes
 * per second through the reward processor. `pnpm bench reward-workers`: rewards in threads. `pnpm bench external-rewards`:
 * requests under way at a reward model. `pnpm bench monitor`: responses per second assessed. `pnpm bench rollout`: how busy rollouts
 * keep a sampler, and what their scheduling costs. `pnpm bench train-step --shape M-groups,M-long,S-lengths-64,S-lengths-16,S-short-64`:
 * steps on groups with common prompts, long sequences and sequences of many lengths. `pnpm bench generate --shape S-agents,M-agents,L-agents,S-rows-64,S-rows-256`:
 * conversations of agents, and many rows at once. `pnpm bench capture`: what a capture adds to a request. `pnpm bench remote`: what sampling over HTTP costs. `pnpm bench hacks`: what reward hacks earn from the stock graders. One JSON line for each measurement.
 *
 *     pnpm bench [train-step] [generate] [math] [loss-overhead] [rewards] [reward-workers] [external-rewards] [monitor] [rollout] [capture] [remote] [hacks] [--shape S,M,L] [--peer PYTHON] [--rounds 3] [--runs 5]
 *                [--warmup 2] [--threads 2] [--episodes 1000000] [--weights shared|packed] [--profiling runs|operators]
 *
 * Each measurement has a process of its own; ours and the peer's take turns, `rounds` times `runs` each, and the ratio is
 * that of the medians. The peer is the interpreter of `--peer` or RLP_BENCH_PYTHON, with PyTorch; it is left out, with a
 * line that says why, where there is none.
 */
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { captureLines } from './bench/capture.ts';
import { type BenchName, compare, measureHere, names } from './bench/compare.ts';
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
import { type AnyShapeName, allShapes, isShapeOf, type ShapeName } from './bench/shapes.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shape: { type: 'string', default: 'S,M,L' },
    peer: { type: 'string', default: process.env.RLP_BENCH_PYTHON ?? '' },
    rounds: { type: 'string', default: '3' },
    runs: { type: 'string', default: '5' },
    warmup: { type: 'string', default: '2' },
    threads: { type: 'string', default: '2' },
    weights: { type: 'string', default: 'shared' },
    profiling: { type: 'string', default: 'runs' },
    // What `rewards` streams to see whether memory stays flat.
    episodes: { type: 'string', default: '1000000' },
    // The same for `monitor`.
    batches: { type: 'string', default: '20000' },
    // One measurement in this very process; what `bench` starts for each of ours.
    here: { type: 'boolean', default: false },
  },
});

const count = z.coerce.number().int().positive();
const schema = z.object({
  names: z
    .array(
      z.enum([
        ...names,
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
      ]),
    )
    .transform((given) => (given.length > 0 ? given : [...names])),
  shapes: z.array(z.enum(Object.keys(allShapes) as [AnyShapeName, ...AnyShapeName[]])),
  peer: z.string(),
  rounds: count,
  runs: count,
  warmup: z.coerce.number().int().nonnegative(),
  threads: count,
  episodes: count,
  batches: count,
  weights: z.enum(['shared', 'packed', 'int8']),
  profiling: z.enum(['runs', 'operators']),
});
const parsed = schema.safeParse({ ...values, names: positionals, shapes: values.shape.split(',') });

if (!parsed.success) {
  console.error(`bench: ${z.prettifyError(parsed.error)}`);
  process.exitCode = 2;
} else if (values.here) {
  const name = parsed.data.names[0] as BenchName;
  console.log(JSON.stringify(await measureHere(name, parsed.data.shapes[0]!, parsed.data)));
} else {
  for await (const line of lines(parsed.data)) console.log(JSON.stringify(line));
}

/** Of every measurement asked for, in order. */
async function* lines(options: z.output<typeof schema>): AsyncGenerator<Line> {
  for (const name of options.names) {
    if (name === 'math') {
      yield* mathLines(options);
      continue;
    }
    if (name === 'external-rewards') {
      yield* externalRewardLines();
      continue;
    }
    if (name === 'rewards') {
      yield* rewardLines(options);
      continue;
    }
    if (name === 'reward-workers') {
      yield* rewardWorkerLines(options);
      continue;
    }
    if (name === 'hacks') {
      yield* hackLines();
      continue;
    }
    if (name === 'rollout') {
      yield* rolloutLines();
      continue;
    }
    if (name === 'capture') {
      yield* captureLines();
      continue;
    }
    if (name === 'remote') {
      yield* remoteLines();
      continue;
    }
    if (name === 'monitor') {
      yield* monitorLines(options);
      continue;
    }
    for (const shape of options.shapes) {
      if (!isShapeOf(name, shape)) console.error(`bench: ${shape} is not a shape of ${name}`);
      else if (name === 'loss-overhead') yield* lossOverheadLines(shape as ShapeName, options);
      else yield* compare(name, shape, options);
    }
  }
}
