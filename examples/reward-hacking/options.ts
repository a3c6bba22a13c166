import { parseArgs } from 'node:util';
import { ArgumentError, parseOptions } from '@rlp/core';
import * as z from 'zod';

const schema = z.strictObject({
  seed: z.string().min(1).default('0'),
  out: z.string().min(1).default('runs/reward-hacking'),
  iterations: z.coerce.number({ error: 'expected a number' }).int().min(1).default(45),
  quick: z.boolean().default(false),
  resume: z.boolean().default(false),
  help: z.boolean().default(false),
});

/** What the example was asked to do. */
export type StoryOptions = Omit<z.output<typeof schema>, 'help'>;

/** Explains the command line. */
export const usage = `reward-hacking: a policy games a flawed reward; the monitor says so, and an intervention saves the run

  --seed NAME           names every random stream (0)
  --out DIRECTORY       where summary, metrics, logs and reports go (runs/reward-hacking)
  --iterations N        GRPO iterations of each arm (45)
  --quick               a table of logits in place of the transformer: seconds
  --resume              go on where an interrupted run in that directory stopped
  --help                this text`;

/**
 * Reads the command line.
 *
 * @throws ArgumentError for an unknown flag, OptionsError for values outside their ranges.
 */
export function storyOptions(args: readonly string[]): StoryOptions | 'help' {
  const { help, ...options } = parseOptions('reward-hacking', schema, readFlags(args));
  return help ? 'help' : options;
}

function readFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string' },
        out: { type: 'string' },
        iterations: { type: 'string' },
        quick: { type: 'boolean' },
        resume: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (cause) {
    const [reason] = (cause as Error).message.split('. ');
    throw new ArgumentError(`reward-hacking: ${reason}; --help lists the flags`, { cause });
  }
}
