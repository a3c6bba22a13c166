import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ArgumentError, type Evaluation, evaluationSchema, FormatError, isRecord } from '@rlp/core';
import { readJsonLinesFile } from '@rlp/data/files';
import { runFiles } from '@rlp/run';
import { type Comparison, compareEvaluations } from '@rlp/run/evaluate';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';

/** What is known of one side. */
interface Side {
  readonly config: ReadonlyMap<string, string>;
  readonly metrics: ReadonlyMap<string, number>;
  readonly evaluations: ReadonlyMap<string, Evaluation>;
}

/** `rlp compare`. */
export const compareCommand = defineCommand({
  meta: { name: 'compare', description: 'Compare two runs, or two evaluations, task by task' },
  args: {
    first: { type: 'positional', description: 'Folder of a run, or file of an evaluation', required: true },
    second: { type: 'positional', description: 'The same', required: true },
    json: { type: 'boolean', description: 'Print the result as JSON' },
  },
  async run({ args, data }) {
    const { print } = data as CliContext;
    // One after the other, so that of two problems the first is named.
    const first = await sideOf(args.first);
    const second = await sideOf(args.second);
    const result = {
      config: differences(first.config, second.config),
      metrics: lastMetrics(first.metrics, second.metrics),
      evaluations: pairedEvaluations(first.evaluations, second.evaluations),
    };
    print(args.json ? JSON.stringify(result) : report(result));
  },
});

async function sideOf(path: string): Promise<Side> {
  const status = await stat(path);
  if (status.isFile()) {
    const evaluation = await readEvaluation(path);
    return { config: new Map(), metrics: new Map(), evaluations: new Map([[evaluation.name, evaluation]]) };
  }
  const files = runFiles(path);
  const side = {
    config: await configOf(files.run),
    metrics: await metricsOf(files.metrics),
    evaluations: await evaluationsOf(files.evaluations),
  };
  if (side.config.size + side.metrics.size + side.evaluations.size > 0) return side;
  throw new ArgumentError(
    `${path}: expected a run folder with run.json, metrics.jsonl or evaluations, found none of them`,
  );
}

async function readEvaluation(path: string): Promise<Evaluation> {
  const parsed = evaluationSchema.safeParse(jsonOf(await readFile(path, 'utf8'), path));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new FormatError(
    `${path} is not an evaluation: ${issue!.path.join('.')}: ${issue!.message}; make one with rlp eval --out`,
  );
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FormatError(
      `${path}: expected JSON: ${(cause as Error).message}; give the folder of a run, or a file of rlp eval --out`,
      { cause },
    );
  }
}

const ifThere = <Value>(promise: Promise<Value>, otherwise: Value): Promise<Value> =>
  promise.catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  });

/** The configuration as paths and values: `algorithm.learningRate` → `0.001`. */
async function configOf(path: string): Promise<ReadonlyMap<string, string>> {
  const text = await ifThere(readFile(path, 'utf8'), '{}');
  const record = jsonOf(text, path);
  const config = isRecord(record) && isRecord(record.config) ? record.config : record;
  return new Map(leavesOf(config, ''));
}

function leavesOf(value: unknown, path: string): [string, string][] {
  if (!isRecord(value)) return path === '' ? [] : [[path, JSON.stringify(value) ?? 'undefined']];
  return Object.entries(value).flatMap(([name, inner]) =>
    leavesOf(inner, path === '' ? name : `${path}.${name}`),
  );
}

/** Last value of each metric, also if it is not finite. Notes, samples and findings are not metrics. */
async function metricsOf(path: string): Promise<ReadonlyMap<string, number>> {
  const last = new Map<string, number>();
  if ((await ifThere(stat(path), undefined)) === undefined) return last;
  // The last line of a run that works or was killed may be cut short.
  for await (const { number, value } of readJsonLinesFile(path, { tornLine: 'skip' })) {
    if (!isRecord(value))
      throw new FormatError(`${path}, line ${number}: expected a JSON object with metrics`);
    if (['note', 'samples', 'finding'].some((field) => Object.hasOwn(value, field))) continue;
    for (const [name, metric] of Object.entries(isRecord(value.metrics) ? value.metrics : value))
      if (typeof metric === 'number' || nonFinite.test(String(metric))) last.set(name, Number(metric));
  }
  return last;
}

/** How a log writes numbers that JSON does not know. */
const nonFinite = /^(NaN|-?Infinity)$/;

async function evaluationsOf(folder: string): Promise<ReadonlyMap<string, Evaluation>> {
  const names = (await ifThere(readdir(folder), [])).filter((name) => name.endsWith('.json'));
  const read = names.map(
    async (name) => [basename(name, '.json'), await readEvaluation(join(folder, name))] as const,
  );
  return new Map(await Promise.all(read));
}

function differences(first: ReadonlyMap<string, string>, second: ReadonlyMap<string, string>) {
  const names = [...new Set([...first.keys(), ...second.keys()])].sort();
  return names
    .filter((name) => first.get(name) !== second.get(name))
    .map((name) => ({ name, first: first.get(name) ?? null, second: second.get(name) ?? null }));
}

function lastMetrics(first: Side['metrics'], second: Side['metrics']) {
  return [...first.keys()]
    .filter((name) => second.has(name))
    .sort()
    .map((name) => ({ name, first: first.get(name)!, second: second.get(name)! }))
    .map((pair) => ({ ...pair, difference: pair.second - pair.first }));
}

interface Paired {
  readonly name: string;
  readonly comparison?: Comparison | undefined;
  /** What the comparison leaves out: tasks that only one side has. */
  readonly note?: string | undefined;
  readonly problem?: string | undefined;
}

/** Evaluations of one name, or the only ones. */
function pairedEvaluations(first: Side['evaluations'], second: Side['evaluations']): Paired[] {
  const names = [...first.keys()].filter((name) => second.has(name));
  const isOnly = names.length === 0 && first.size === 1 && second.size === 1;
  const pairs = isOnly
    ? [[[...first.keys()][0]!, [...first.values()][0]!, [...second.values()][0]!] as const]
    : names.map((name) => [name, first.get(name)!, second.get(name)!] as const);
  return pairs.map(([name, before, after]) => {
    try {
      const comparison = compareEvaluations(before, after);
      return { name, comparison, note: noteOnUnshared(comparison, before, after) };
    } catch (error) {
      if (error instanceof ArgumentError) return { name, problem: error.message };
      throw error;
    }
  });
}

/** Runs with other seeds hold out other rows, so that few tasks may be in both. */
function noteOnUnshared(
  { tasks, measure }: Comparison,
  first: Evaluation,
  second: Evaluation,
): string | undefined {
  if (tasks === first.tasks.length && tasks === second.tasks.length) return undefined;
  const wholeOf = (one: Evaluation) => {
    const value = measure === 'accuracy' ? one.accuracy : one.reward?.value;
    return `${value === undefined ? 'none' : value.toFixed(4)} of ${one.tasks.length}`;
  };
  return `only tasks of both sides are compared; whole ${measure}: ${wholeOf(first)} → ${wholeOf(second)}. Measure both on the same rows, as with evaluation.data`;
}

type Result = {
  readonly config: ReturnType<typeof differences>;
  readonly metrics: ReturnType<typeof lastMetrics>;
  readonly evaluations: readonly Paired[];
};

function report({ config, metrics, evaluations }: Result): string {
  const short = (value: number) => String(Number(value.toPrecision(5)));
  const shown = metrics.filter(({ first, second }) => first !== 0 || second !== 0);
  const zero = metrics.length - shown.length;
  const lines = [
    ...section(
      'Configuration',
      config.map(({ name, first, second }) => `${name}: ${first ?? 'absent'} → ${second ?? 'absent'}`),
    ),
    ...section(
      'Evaluations',
      evaluations.flatMap(({ name, comparison, note, problem }) => [
        `${name}: ${problem ?? sentence(comparison!)}`,
        ...(note === undefined ? [] : [`  note: ${note}`]),
      ]),
    ),
    ...section('Last metrics', [
      ...shown.map(({ name, first, second }) => `${name}: ${short(first)} → ${short(second)}`),
      ...(zero > 0 ? [`0 in both, left out: ${zero}`] : []),
    ]),
  ];
  return lines.length === 0 ? 'no differences' : lines.join('\n');
}

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];

function sentence({
  measure,
  first,
  second,
  difference,
  low,
  high,
  pValue,
  better,
  worse,
  tasks,
}: Comparison): string {
  const sign = difference >= 0 ? '+' : '';
  const interval =
    low === undefined || high === undefined ? 'no interval' : `${low.toFixed(4)} to ${high.toFixed(4)}`;
  return `${measure} ${first.toFixed(4)} → ${second.toFixed(4)}, ${sign}${difference.toFixed(4)} (${interval}), p = ${pValue.toPrecision(2)}, ${better} better and ${worse} worse of ${tasks} tasks`;
}
