import { access, constants, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Evaluation, type Measure, messageOf, plural } from '@rlp/core';
import { writeTextFile } from '@rlp/data/store';
import { countLearned } from '@rlp/run';
import { type EvaluateBenchmarkOptions, evaluateBenchmark } from '@rlp/run/benchmarks';
import { evaluate } from '@rlp/run/evaluate';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { type EvaluationData, readEvaluationData } from './eval-data.ts';
import { fieldsArg, fieldsOf } from './fields-flag.ts';
import { countOf, given, numberOf, threadsOf } from './numbers.ts';
import { loadPolicy, startPolicy } from './open-policy.ts';
import { samplingArgs, samplingOf } from './sampling-flags.ts';
import { UsageError } from './usage-error.ts';

/** `rlp eval`. */
export const evalCommand = defineCommand({
  meta: { name: 'eval', description: 'Evaluate a model on a benchmark, or on questions and answers' },
  args: {
    model: {
      type: 'positional',
      description: 'Model folder, folder of a run, or name on the hub',
      required: true,
    },
    data: {
      type: 'positional',
      description: 'File, folder or hub name of a benchmark, or of questions and answers',
      required: true,
    },
    benchmark: {
      type: 'string',
      description: 'Name of the benchmark. Default: by the fields of the file',
      valueHint: 'NAME',
    },
    grader: { type: 'string', description: 'Compare answers as math (default) or exact', valueHint: 'NAME' },
    style: {
      type: 'string',
      description: 'Prompts for completion or chat. Default: chat with a template',
      valueHint: 'NAME',
    },
    ...fieldsArg,
    limit: { type: 'string', description: 'Use the first rows only', valueHint: 'N' },
    samples: { type: 'string', description: 'Responses per task. Default 1, the likeliest', valueHint: 'N' },
    k: { type: 'string', description: 'Values of k for pass@k and maj@k, such as 1,8', valueHint: 'N,N' },
    confidence: { type: 'string', description: 'Level of the intervals. Default 0.95', valueHint: 'P' },
    category: { type: 'string', description: 'Field that names a category', valueHint: 'FIELD' },
    ...samplingArgs,
    concurrency: { type: 'string', description: 'Tasks at the same time. Default 64', valueHint: 'N' },
    out: { type: 'string', description: 'File for the whole record, with every task', valueHint: 'FILE' },
    json: { type: 'boolean', description: 'Print the numbers as JSON' },
  },
  async run({ args, data: given }): Promise<'scored' | 'failed'> {
    const context = given as CliContext;
    const settings = settingsOf(args);
    const style = styleOf(args.style);
    const limit = countOf('limit', args.limit);
    const { benchmark, grader } = args;
    if (args.out !== undefined) await requireFolder(dirname(args.out));
    const loaded = await loadPolicy(args.model);
    const read = {
      benchmark,
      grader,
      limit,
      fields: fieldsOf(args.fields),
      signal: context.signal,
      style: style ?? (loaded.model.chat ? 'chat' : 'completion'),
    } as const;
    const data = await readEvaluationData(args.data, read);
    const threads = threadsOf(args.threads);
    await using policy = await startPolicy(loaded, { threads, engine: context.engine });
    const { inference } = policy;
    const asked = {
      sampler: inference,
      scorer: inference,
      tokenizer: inference.tokenizer,
      chat: inference.renderer,
    };
    const notes = await noteOnLearned(args.model, data, context.signal);
    const scored = await evaluated(data, { ...settings, policy: asked, signal: context.signal });
    const record = { ...scored, notes: [...scored.notes, ...notes] };
    const { tasks: _tasks, ...numbers } = record;
    context.print(args.json ? JSON.stringify(numbers) : table(record));
    if (args.out !== undefined) await writeTextFile(args.out, `${JSON.stringify(record, null, 2)}\n`);
    return record.reward === undefined ? 'failed' : 'scored';
  },
});

/** A sentence if the run of the model learned from some of the tasks. */
async function noteOnLearned(
  model: string,
  { tasks = [] }: EvaluationData,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  let learned = 0;
  try {
    learned = (await countLearned(model, tasks, { signal })) ?? 0;
  } catch (error) {
    signal?.throwIfAborted();
    return [`the rows that ${model} learned from cannot be read: ${messageOf(error)}`];
  }
  return learned === 0
    ? []
    : [
        `${learned} of ${plural(tasks.length, 'task')} ${learned === 1 ? 'is' : 'are'} rows that ${model} learned from: they measure memory`,
      ];
}

/** Makes a folder for what takes long to compute. @throws the system's error if nothing can be written there. */
async function requireFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await access(path, constants.W_OK);
}

type Settings = Omit<EvaluateBenchmarkOptions, 'benchmark'>;

function evaluated(
  { name, benchmark, tasks, rewards }: EvaluationData,
  settings: Settings,
): Promise<Evaluation> {
  if (benchmark !== undefined) return evaluateBenchmark({ name, ...settings, benchmark });
  const { policy, ...rest } = settings;
  return evaluate({ name, ...rest, policy, tasks: tasks!, rewards: rewards! });
}

type Flags = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

function settingsOf(args: Flags) {
  const text = (name: string) => args[name] as string | undefined;
  const k = text('k')
    ?.split(',')
    .map((each) => countOf('k', each)!);
  return given({
    samples: countOf('samples', text('samples')),
    k,
    confidence: numberOf('confidence', text('confidence'), { least: 0.5, most: 0.9999 }),
    concurrency: countOf('concurrency', text('concurrency')),
    category: text('category'),
    seed: text('seed'),
    sampling: samplingOf(args as never),
  });
}

function styleOf(style: string | undefined): 'completion' | 'chat' | undefined {
  if (style === undefined || style === 'completion' || style === 'chat') return style;
  throw new UsageError(`--style must be completion or chat, got "${style}"`);
}

/** A line per number, then the notes. */
function table(record: Evaluation): string {
  const { name, accuracy, low, high, confidence, reward, components, passAt, majorityAt, categories } =
    record;
  const isComplete = accuracy !== undefined && reward !== undefined;
  const rows: (readonly [string, Measure | undefined])[] = [
    ['accuracy', isComplete ? { ...reward, value: accuracy, low, high } : undefined],
    ['reward', isComplete ? undefined : reward],
    ...Object.entries(components),
    ...Object.entries(passAt ?? {}).map(([k, measure]) => [`pass@${k}`, measure] as const),
    ...Object.entries(majorityAt ?? {}).map(([k, measure]) => [`maj@${k}`, measure] as const),
    ...Object.entries(categories ?? {}).map(
      ([category, numbers]) => [category, numbers.accuracy ?? numbers.reward] as const,
    ),
  ];
  const width = Math.max(...rows.map(([title]) => title.length));
  const lines = rows.flatMap(([title, measure]) =>
    measure ? [`  ${title.padEnd(width)}  ${shown(measure)}`] : [],
  );
  const { lengths, truncated = 0, tasks } = record;
  const length =
    lengths && `  ${lengths.mean.toFixed(1)} tokens per response, ${percent(truncated)} cut at the limit`;
  const title = `${name}: ${plural(tasks.length, 'task')}, intervals at ${percent(confidence)}`;
  return [
    title,
    ...lines,
    ...(length === undefined ? [] : [length]),
    ...record.notes.map((note) => `  ! ${note}`),
  ].join('\n');
}

const percent = (share: number) => `${Number((100 * share).toFixed(2))} %`;

function shown({ value, low, high }: Measure): string {
  const interval = low === undefined || high === undefined ? '' : `  ${low.toFixed(4)} to ${high.toFixed(4)}`;
  return value.toFixed(4) + interval;
}
