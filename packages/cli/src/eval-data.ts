import { FormatError, nearNames, type RewardFunction, type Task } from '@rlp/core';
import { type DatasetFields, tasksFrom } from '@rlp/data';
import { loadDataset } from '@rlp/data/datasets';
import { loadLanguageDetector } from '@rlp/rewards/instructions';
import { exactAnswer, mathAnswer } from '@rlp/rewards/stock';
import {
  type Benchmark,
  type BenchmarkRow,
  benchmarkNames,
  benchmarkOf,
  readBenchmark,
} from '@rlp/run/benchmarks';
import { UsageError } from './usage-error.ts';

/** What to evaluate on. */
export interface EvaluationData {
  readonly name: string;
  readonly benchmark?: Benchmark | undefined;
  /** Tasks with answers, if the file is not a benchmark's. */
  readonly tasks?: readonly Task[] | undefined;
  readonly rewards?: Readonly<Record<string, RewardFunction>> | undefined;
}

/** How the file is read. */
export interface DataFlags {
  readonly benchmark?: string | undefined;
  readonly grader?: string | undefined;
  /** Columns of questions and answers with other names. */
  readonly fields?: DatasetFields | undefined;
  readonly limit?: number | undefined;
  readonly style: 'completion' | 'chat';
  /** Ends a download. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads a benchmark, or rows of questions and answers. @throws FormatError naming the row and what it lacks. */
export async function readEvaluationData(path: string, flags: DataFlags): Promise<EvaluationData> {
  const { benchmark, grader, style, signal, fields, limit = Infinity } = flags;
  if (benchmark !== undefined) requireBenchmark(benchmark);
  if (fields !== undefined)
    return { name: path, ...questionsAndAnswers(await namedTasks(path, flags), flags) };
  const rows = await rowsOf(path, limit, signal);
  const known = benchmark ?? (grader === undefined ? benchmarkOf(rows) : undefined);
  if (known === undefined) return { name: path, ...questionsAndAnswers(tasksOf(path, rows), flags) };
  const runner = needsPython.includes(known) ? await startedPython(signal) : undefined;
  if (known === 'ifeval' && rows.some(asksForLanguage)) await loadLanguageDetector();
  return { name: known, benchmark: readBenchmark(rows, { name: known, style, source: path, runner }) };
}

const needsPython: readonly string[] = ['humaneval', 'mbpp'];

/** Runs an empty program, so that a package that is missing is reported before a model answers. */
async function startedPython(signal: AbortSignal = new AbortController().signal) {
  const { pythonRunner } = await import('@rlp/sandbox/python');
  const runner = pythonRunner();
  await runner({ language: 'python', source: '', input: '' }, { timeoutMs: 60_000, signal });
  return runner;
}

/** Whether a row of IFEval has an instruction about the language of a response. */
function asksForLanguage({ instruction_id_list: ids }: BenchmarkRow): boolean {
  return [ids].flat().some((id) => /language|english/.test(String(id)));
}

function requireBenchmark(name: string): void {
  if ((benchmarkNames as readonly string[]).includes(name)) return;
  const [near] = nearNames(name, benchmarkNames, (each) => each);
  const hint = near === undefined ? `expected one of ${benchmarkNames.join(', ')}` : `did you mean ${near}?`;
  throw new UsageError(`rlp eval: no benchmark is named "${name}"; ${hint}`);
}

/** The first rows of whatever `loadDataset` reads: a file, a folder, or a dataset of the hub, with a slice. */
async function rowsOf(path: string, limit: number, signal: AbortSignal | undefined): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = [];
  const dataset = await loadDataset(path, { signal });
  for await (const row of dataset) {
    signal?.throwIfAborted();
    rows.push(row);
    if (rows.length >= limit) break;
  }
  if (rows.length === 0) throw new FormatError(`${path} holds no rows; expected questions and answers`);
  return rows;
}

const questionFields = ['prompt', 'question', 'problem', 'instruction', 'input', 'messages'];
const answerFields = ['answer', 'completion', 'output', 'response', 'target', 'solution'];
const graders = ['math', 'exact'] as const;

/** Tasks of rows whose columns are named. */
async function namedTasks(path: string, { fields, limit, signal }: DataFlags): Promise<readonly Task[]> {
  const named = await tasksFrom((await loadDataset(path, { fields, signal })).slice(0, limit), { signal });
  return named.map((task): Task => {
    const { answer, ...rest } = task.metadata as { readonly answer?: unknown };
    if (answer !== undefined) return { ...task, metadata: { ...rest, answer: String(answer) } };
    throw new FormatError(
      `${path}, row ${task.id}: expected an answer; name its column as in --fields answer=reply`,
    );
  });
}

/** Tasks of rows whose columns have usual names. */
function tasksOf(path: string, rows: readonly BenchmarkRow[]): readonly Task[] {
  return rows.map((row, index): Task => {
    const prompt = fieldOf(row, questionFields, `${path}, row ${index + 1}`) as string;
    const answer = fieldOf(row, answerFields, `${path}, row ${index + 1}`);
    const { id, ...rest } = row;
    const isId = typeof id === 'string' || typeof id === 'number';
    return {
      id: isId ? String(id) : String(index + 1),
      prompt,
      metadata: { ...rest, answer: String(answer) },
    };
  });
}

function questionsAndAnswers(given: readonly Task[], { grader = 'math', style }: DataFlags) {
  if (!(graders as readonly string[]).includes(grader)) {
    throw new UsageError(`--grader must be ${graders.join(' or ')}, got "${grader}"`);
  }
  const tasks = given.map((task): Task => {
    const isBare = typeof task.prompt === 'string' && style === 'chat';
    return isBare ? { ...task, prompt: [{ role: 'user', content: task.prompt as string }] } : task;
  });
  const reference = (metadata: unknown) => (metadata as { readonly answer: string }).answer;
  return {
    tasks,
    rewards: { correct: grader === 'math' ? mathAnswer({ reference }) : exactAnswer({ reference }) },
  };
}

/** The first of some fields that a row has. */
function fieldOf(row: BenchmarkRow, names: readonly string[], place: string): unknown {
  const found = names.find((name) => row[name] !== undefined && row[name] !== null);
  if (found !== undefined) return row[found];
  throw new FormatError(
    `${place}: expected one of ${names.join(', ')}; the row has ${Object.keys(row).join(', ')}; name them, as in --fields prompt=query,answer=reply`,
  );
}
