import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ArgumentError, evaluationSchema, plural } from '@rlp/core';
import { directoryHolder, verifyRun } from '@rlp/data/store';
import {
  isRunnable,
  type RunConfig,
  type RunRecord,
  readRunRecord,
  runFiles,
  runJsonSchema,
  withPathsFrom,
} from '@rlp/run';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { reported, runIn } from './train-command.ts';

/** `rlp run verify`. */
export const verifyCommand = defineCommand({
  meta: { name: 'verify', description: 'Compare the checkpoints of a run with their checksums' },
  args: {
    directory: { type: 'positional', description: 'Directory of a run, or of one save', required: true },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }): Promise<'sound' | 'failed'> {
    const { print } = data as CliContext;
    const result = await verifyRun(args.directory);
    const { intact, problems, leftovers, holder } = result;
    if (intact.length + problems.length + leftovers.length === 0) {
      throw new ArgumentError(
        `${args.directory} holds no checkpoints; give the folder of a run, or of one save`,
      );
    }
    if (args.json) print(JSON.stringify(result));
    else {
      for (const problem of problems) print(`broken: ${problem}`);
      for (const path of leftovers) print(`left by a crash: ${path}; the next save or load removes it`);
      if (holder !== undefined) print(`in use: process ${holder.pid} on ${holder.host} writes here`);
      print(
        `${args.directory}: ${plural(intact.length, 'save')} intact, ${plural(problems.length, 'problem')}`,
      );
    }
    return problems.length === 0 ? 'sound' : 'failed';
  },
});

/** `rlp run list`. */
export const listCommand = defineCommand({
  meta: {
    name: 'list',
    description: 'List the runs in a directory: what they do, how far they are, how good',
  },
  args: {
    directory: { type: 'positional', description: 'Directory with folders of runs', default: 'runs' },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print } = data as CliContext;
    const folders = await readdir(args.directory, { withFileTypes: true });
    const candidates = [
      '.',
      ...folders
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name)
        .sort(),
    ];
    const found = await Promise.all(candidates.map((name) => summaryOf(join(args.directory, name))));
    const runs = found.filter((run) => run !== undefined);
    if (args.json) return print(JSON.stringify(runs));
    for (const { folder, mode, status, seconds, score } of runs) {
      const best = score === undefined ? '' : `, best score ${score.toFixed(3)}`;
      print(`${folder}: ${mode}, ${status}, ${Math.round(seconds)} s${best}`);
    }
    if (runs.length === 0) print(`${args.directory}: no runs; rlp train makes them`);
  },
});

/** What the list says of a run. `undefined` if the folder holds none. */
async function summaryOf(folder: string) {
  const record = await readRunRecord(runFiles(folder).run).catch(() => 'broken' as const);
  if (record === undefined) return undefined;
  if (record === 'broken')
    return { folder, mode: 'unknown', status: 'broken run.json', seconds: 0, score: undefined };
  const { mode, seconds, best, startedAt } = record;
  const score = best?.score ?? (mode === 'eval' ? await accuracyOf(folder) : undefined);
  // A process that was killed could not write that it ended.
  const isInterrupted = record.status === 'running' && (await directoryHolder(folder)) === undefined;
  const status = isInterrupted ? 'interrupted' : record.status;
  return { folder, mode, status, seconds, startedAt, score };
}

/** Accuracy of a run that only evaluates. */
async function accuracyOf(folder: string): Promise<number | undefined> {
  try {
    const text = await readFile(join(runFiles(folder).evaluations, 'final.json'), 'utf8');
    const { accuracy, reward } = evaluationSchema.parse(JSON.parse(text));
    return accuracy ?? reward?.value;
  } catch {
    return undefined; // Not there yet, or broken, which rlp compare explains.
  }
}

/** `rlp run schema`. */
export const schemaCommand = defineCommand({
  meta: { name: 'schema', description: 'Print the JSON Schema of a run configuration, for editors' },
  args: {},
  async run({ data }) {
    const { print } = data as CliContext;
    print(await publishedSchema().catch(() => JSON.stringify(runJsonSchema())));
  },
});

/** The schema that the package is published with, which has the sentences of the options. A clone has none before it is built. */
async function publishedSchema(): Promise<string> {
  const path = createRequire(import.meta.url).resolve('@rlp/run/schemas/run.json');
  return (await readFile(path, 'utf8')).trimEnd();
}

/** `rlp run resume`. */
export const resumeCommand = defineCommand({
  meta: { name: 'resume', description: 'Continue a run where it was stopped' },
  args: {
    directory: { type: 'positional', description: 'Folder of a run', required: true },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args: { directory, json }, data }) {
    const context = data as CliContext;
    const config = await configOf(await readRunRecord(runFiles(directory).run), directory);
    const result = await runIn(context, { ...config, output: directory }, 'resume');
    return reported(result, context, { json: json === true, command: `rlp run resume ${directory}` });
  },
});

async function configOf(record: RunRecord | undefined, directory: string): Promise<RunConfig> {
  if (record === undefined) {
    throw new ArgumentError(`${directory} holds no run: it has no run.json; rlp train makes one`);
  }
  const config = record.config as unknown as RunConfig;
  if (isRunnable(config)) return withPathsFrom(record.host.directory ?? '.', config);
  throw new ArgumentError(
    `${directory} was begun by a program whose functions and objects are not in run.json; run the program again to continue`,
  );
}
