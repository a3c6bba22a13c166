import { parseArgs } from 'node:util';
import { ArgumentError, parseOptions } from '@rlp/core';
import * as z from 'zod';

const number = z.coerce.number({
  error: (issue) =>
    issue.code === 'invalid_type' && Number.isNaN(issue.input) ? 'expected a number' : undefined,
});
const count = number.int();

const schema = z.strictObject({
  seed: z.string().min(1).default('0'),
  out: z.string().min(1).default('runs/quickstart'),
  'sft-updates': count.min(1).default(300),
  'rl-iterations': count.min(1).default(150),
  'rl-problems': count.min(1).default(32),
  'held-out': count.min(1).max(2000).default(400),
  carelessness: number.min(0).max(1).default(0.75),
  threads: count.min(1).optional(),
  resume: z.boolean().default(false),
  help: z.boolean().default(false),
});

/** What the quickstart was asked to do. */
export interface QuickstartOptions {
  readonly seed: string;
  readonly out: string;
  readonly sftUpdates: number;
  readonly rlIterations: number;
  readonly rlProblems: number;
  readonly heldOut: number;
  readonly carelessness: number;
  readonly threads?: number | undefined;
  readonly resume: boolean;
}

/** Explains the command line. */
export const usage = `quickstart: a small language model learns to add, by SFT and then by GRPO

  --seed NAME           names every random stream (0)
  --out DIRECTORY       where summary, metrics, report and checkpoint go (runs/quickstart)
  --sft-updates N       supervised updates of 64 demonstrations (300)
  --rl-iterations N     iterations of reinforcement learning (150)
  --rl-problems N       problems of an iteration, with 8 answers each (32)
  --held-out N          problems never trained on that accuracy is measured with (400)
  --carelessness P      how often the teacher forgets to carry (0.75)
  --threads N           threads that compute (as many as there are cores)
  --resume              continue where an interrupted run stopped
  --help                this text`;

/**
 * Reads the command line.
 *
 * @throws ArgumentError for an unknown flag, OptionsError for values outside their ranges.
 */
export function quickstartOptions(args: readonly string[]): QuickstartOptions | 'help' {
  const { help, ...options } = parseOptions('quickstart', schema, readFlags(args));
  if (help) return 'help';
  const {
    'sft-updates': sftUpdates,
    'rl-iterations': rlIterations,
    'rl-problems': rlProblems,
    'held-out': heldOut,
    ...others
  } = options;
  return { ...others, sftUpdates, rlIterations, rlProblems, heldOut };
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        out: { type: 'string' },
        'sft-updates': { type: 'string' },
        'rl-iterations': { type: 'string' },
        'rl-problems': { type: 'string' },
        'held-out': { type: 'string' },
        carelessness: { type: 'string' },
        threads: { type: 'string' },
        resume: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (cause) {
    const [reason] = (cause as Error).message.split('. ');
    throw new ArgumentError(`quickstart: ${reason}; --help lists the flags`, { cause });
  }
}
