import { parseArgs } from 'node:util';
import { ArgumentError, parseOptions } from '@rlp/core';
import * as z from 'zod';

const number = z.coerce.number({
  error: (issue) =>
    issue.code === 'invalid_type' && Number.isNaN(issue.input) ? 'expected a number' : undefined,
});
const count = number.int();

const schema = z.strictObject({
  seed: z.string().min(1).default('0').describe('name of all random streams'),
  out: z.string().min(1).default('runs/quickstart').describe('folder of the results'),
  'sft-updates': count.min(1).default(300).describe('supervised updates of 64 demonstrations'),
  'rl-iterations': count.min(1).default(150).describe('iterations of GRPO'),
  'rl-problems': count.min(1).default(32).describe('problems per iteration, with 8 answers each'),
  'held-out': count.min(1).max(2000).default(400).describe('problems that only measure accuracy'),
  carelessness: number.min(0).max(1).default(0.75).describe('how often the teacher forgets to carry'),
  threads: count.min(1).optional().describe('threads that compute; default: all cores'),
  resume: z.boolean().default(false).describe('continue the run in the folder'),
  new: z.boolean().default(false).describe('delete the run in the folder and start anew'),
  help: z.boolean().default(false).describe('print this text'),
});

/** Options of the quickstart, named as its flags. */
export type QuickstartOptions = Omit<z.output<typeof schema>, 'help'>;

const flags = Object.entries(schema.shape).map(([name, field]) => {
  const standard: unknown = field.parse(undefined);
  const type = standard === false ? ('boolean' as const) : ('string' as const);
  return { name, type, standard, meaning: field.description ?? '' };
});

/** Help text of the command line. */
export const usage = [
  'quickstart: a small language model learns to add, by SFT and then by GRPO\n',
  ...flags.map(({ name, type, standard, meaning }) => {
    const flag = `  --${name}${type === 'string' ? ' VALUE' : ''}`;
    const shown = type === 'string' && standard !== undefined ? `${meaning} (${standard})` : meaning;
    return flag.padEnd(26) + shown;
  }),
].join('\n');

/**
 * Reads the command line.
 *
 * @throws ArgumentError for an unknown flag or two that exclude each other, OptionsError for values outside their ranges.
 */
export function quickstartOptions(args: readonly string[]): QuickstartOptions | 'help' {
  const { help, ...options } = parseOptions('quickstart', schema, readFlags(args));
  if (options.resume && options.new) {
    throw new ArgumentError('quickstart: --resume continues a run and --new deletes it; choose one of them');
  }
  return help ? 'help' : options;
}

function readFlags(args: readonly string[]) {
  const options = Object.fromEntries(
    flags.map(({ name, type }) => [name, name === 'help' ? { type, short: 'h' } : { type }]),
  );
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    const [reason] = (cause as Error).message.split('. ');
    throw new ArgumentError(`quickstart: ${reason}; --help lists the flags`, { cause });
  }
}
