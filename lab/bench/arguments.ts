/** Arguments of `pnpm bench`; `lab/bench.ts` says what they mean. */
import { parseArgs } from 'node:util';
import { messageOf, OptionsError, parseOptions } from '@rlp/core';
import * as z from 'zod';

/** What is measured beside a peer. */
export const names = ['train-step', 'generate', 'iteration'] as const;

/** Name of a measurement. */
export type BenchName = (typeof names)[number];

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
export type Alone = (typeof alone)[number];

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

export type BenchOptions = z.output<typeof schema>;

export interface BenchArguments {
  readonly help: boolean;
  /** Subject of the one measurement that this very process makes; empty for none. */
  readonly here: string;
  readonly options: BenchOptions;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ ...config, args: [...args] });
  } catch (error) {
    throw new OptionsError('bench', [messageOf(error).split('. ')[0]!]);
  }
}

/** @throws {OptionsError} For arguments that name nothing or have values of a wrong kind. */
export function benchArguments(args: readonly string[]): BenchArguments {
  const { values, positionals } = parsed(args);
  const { help, here, shape, ...given } = values;
  const options = { ...given, names: positionals, shapes: shape.split(',').filter(Boolean) };
  return { help, here, options: parseOptions('bench', schema, options) };
}
