import { parseArgs } from 'node:util';
import { parseOptions } from '@rlp/core';
import { z } from 'zod';

const schema = z.strictObject({
  seed: z.string().default('0'),
  out: z.string().default('runs/quickstart'),
  sftUpdates: z.coerce.number().int().min(1).default(300),
  rlIterations: z.coerce.number().int().min(1).default(150),
  carelessness: z.coerce.number().min(0).max(1).default(0.75),
  resume: z.boolean().default(false),
});

/** What the quickstart was asked to do. */
export type QuickstartOptions = z.output<typeof schema>;

/** Explains the command line. */
export const usage = `quickstart: a small language model learns to add, by SFT and then by GRPO

  --seed NAME           names every random stream (0)
  --out DIRECTORY       where summary, metrics, report and checkpoint go (runs/quickstart)
  --sft-updates N       supervised updates of 64 demonstrations (300)
  --rl-iterations N     iterations of 32 problems with 8 answers each (150)
  --carelessness P      how often the teacher forgets to carry (0.75)
  --resume              continue where an interrupted run stopped
  --help                this text`;

/**
 * Reads the command line.
 *
 * @throws TypeError for an unknown flag, OptionsError for values outside their ranges.
 */
export function quickstartOptions(args: readonly string[]): QuickstartOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      out: { type: 'string' },
      'sft-updates': { type: 'string' },
      'rl-iterations': { type: 'string' },
      carelessness: { type: 'string' },
      resume: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  const given = {
    seed: values.seed,
    out: values.out,
    sftUpdates: values['sft-updates'],
    rlIterations: values['rl-iterations'],
    carelessness: values.carelessness,
    resume: values.resume,
  };
  return parseOptions(
    'quickstart',
    schema,
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  );
}
