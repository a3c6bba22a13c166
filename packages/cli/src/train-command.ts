import { once } from 'node:events';
import { Writable } from 'node:stream';
import { OptionsError } from '@rlp/core';
import {
  defineRun,
  type Override,
  type RunConfig,
  type RunResult,
  readRunFile,
  trainRun,
  withOverrides,
} from '@rlp/run';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { UsageError } from './usage-error.ts';

/** Flags that are options of a run, by their names. */
const runArgs = {
  model: {
    type: 'string',
    description: 'Folder of a Hugging Face model, or its name on the hub',
    valueHint: 'MODEL',
  },
  data: { type: 'string', description: 'File of rows such as {"question", "answer"}', valueHint: 'FILE' },
  mode: {
    type: 'string',
    description: 'sft, rl, sft+rl, dpo, sft+dpo, reward-model, distill, sft+distill or eval',
    valueHint: 'MODE',
  },
  environment: { type: 'string', description: 'text, chat or a game', valueHint: 'NAME' },
  evaluation: { type: 'string', description: 'none for no evaluation', valueHint: 'none' },
  monitor: { type: 'string', description: 'none for no monitor', valueHint: 'none' },
  trajectories: { type: 'string', description: 'none for no recordings', valueHint: 'none' },
  seed: { type: 'string', description: 'Names all random streams', valueHint: 'TEXT' },
} as const;

/** `rlp train`. */
export const trainCommand = defineCommand({
  meta: {
    name: 'train',
    description:
      'Train and evaluate a model as a configuration file says. --KEY.KEY=VALUE replaces a value of it, as in ' +
      '--algorithm.loss.clipHigh=0.3. A run of the same configuration in the folder is continued',
  },
  args: {
    file: {
      type: 'positional',
      description: 'Configuration in YAML, JSON or TypeScript, or rows',
      required: false,
    },
    out: { type: 'string', description: 'Folder of the run', valueHint: 'DIR' },
    ...runArgs,
    new: { type: 'boolean', description: 'Delete an earlier run in the folder' },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, rawArgs, data }) {
    const context = data as CliContext;
    const flags = Object.keys(runArgs).flatMap((path): Override[] => {
      const value = args[path as keyof typeof runArgs];
      return value === undefined ? [] : [{ path, value }];
    });
    const config = await configOf(args.file, [...flags, ...dottedFlags(rawArgs)]);
    const output = args.out ?? config.output;
    requireAll({ ...config, output }, rawArgs);
    const existing = args.new ? 'new' : 'resume';
    const result = await runIn(context, { ...config, output }, existing);
    return reported(result, context, { json: args.json === true, command: resumption(rawArgs) });
  },
});

/** Trains with the streams of a command. */
export async function runIn(
  context: CliContext,
  config: RunConfig,
  existing: 'resume' | 'new',
): Promise<RunResult> {
  const stream = context.progress ?? lines(context.printError);
  const result = await trainRun(config, { existing, stream, signal: context.signal });
  if (context.progress === undefined) await once(stream.end(), 'finish');
  return result;
}

/** Prints the result of a run. */
export function reported(
  result: RunResult,
  { print, printError }: CliContext,
  { json, command }: { readonly json: boolean; readonly command: string },
): 'interrupted' | 'sound' {
  const { status, mode, directory, evaluation, model, seconds, files } = result;
  const { accuracy, low, high } = evaluation ?? {};
  if (json) print(JSON.stringify({ status, mode, directory, accuracy, low, high, model, seconds }));
  if (status === 'stopped') {
    printError(`Stopped. Continue with: ${command}`);
    return 'interrupted';
  }
  if (json) return 'sound';
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  if (accuracy !== undefined && low !== undefined && high !== undefined) {
    print(
      `Held-out accuracy: ${percent(accuracy)} (95 % interval ${percent(low)} to ${percent(high)}), in ${seconds.toFixed(0)} s.`,
    );
  }
  if (model !== undefined) print(`Model: ${model}`);
  print(`Report: ${files.report}`);
  return 'sound';
}

/** The configuration of a file, or of rows, with what the flags say. */
async function configOf(file: string | undefined, overrides: readonly Override[]): Promise<RunConfig> {
  const isData = file !== undefined && /\.(jsonl|csv|parquet)(\[.*\])?$/i.test(file);
  const base = file === undefined || isData ? { ...(isData && { data: file }) } : await readRunFile(file);
  return withOverrides(base as RunConfig, overrides);
}

/** Values of the configuration that were given as `--KEY.KEY=VALUE`. */
function dottedFlags(rawArgs: readonly string[]): Override[] {
  return rawArgs.flatMap((argument): Override[] => {
    const [, path, value] = /^--([\w-]+(?:\.[\w-]+)+)(?:=([\s\S]*))?$/.exec(argument) ?? [];
    if (path === undefined) return [];
    if (value !== undefined) return [{ path, value }];
    throw new UsageError(`rlp train: expected a value after --${path}, as in --${path}=VALUE`);
  });
}

/** Says what is missing and how to give it, and which names of the configuration are unknown: one may be misspelt. */
function requireAll(config: RunConfig, rawArgs: readonly string[]): void {
  const { model, data, environment, output } = config;
  const missing = [
    ...(model === undefined ? ['--model DIR (a Hugging Face model)'] : []),
    ...(data === undefined && environment === undefined
      ? ['--data FILE (rows with prompts and answers)']
      : []),
    ...(output === undefined ? ['--out DIR (the folder of the run)'] : []),
  ];
  if (missing.length === 0) return;
  const flags = missing.map((text) => text.replace(/ \(.*/, '')).join(' ');
  const unknown = unknownOptions(config).map((issue) => `${issue.replace(/[^?]$/, '$&.')} `);
  throw new UsageError(
    `rlp train: missing ${missing.join(' and ')}. ${unknown.join('')}Give it as in: ${resumption(rawArgs)} ${flags}, or write it into a .yaml file`,
  );
}

function unknownOptions(config: RunConfig): readonly string[] {
  try {
    defineRun(config);
    return [];
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    return error.issues.filter((issue) => issue.includes('Unrecognized option'));
  }
}

/** The command that continues a run. */
function resumption(rawArgs: readonly string[]): string {
  const flags = rawArgs.filter((flag) => flag !== '--new');
  return [
    'rlp train',
    ...flags.map((flag) => (/^[\w./=:+-]+$/.test(flag) ? flag : JSON.stringify(flag))),
  ].join(' ');
}

/** A stream that prints whole lines. */
function lines(print: (line: string) => void): Writable {
  let rest = '';
  return new Writable({
    write(chunk, _, done) {
      const parts = (rest + String(chunk)).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) print(line);
      done();
    },
    final(done) {
      if (rest !== '') print(rest);
      done();
    },
  });
}
