import { ArgumentError, FormatError, requireArguments } from '@rlp/core';
import type { Benchmark, BenchmarkOptions, BenchmarkRow } from './benchmark.ts';
import { arc, hellaswag, mmlu, truthfulqaMc1, truthfulqaMc2 } from './choices.ts';
import { humaneval, mbpp } from './code.ts';
import { gsm8k } from './gsm8k.ts';
import { ifeval } from './ifeval.ts';
import { math } from './math.ts';

interface Reader {
  readonly read: (rows: readonly BenchmarkRow[], options?: BenchmarkOptions) => Benchmark;
  /** Whether a row has this layout. */
  readonly fits: (row: BenchmarkRow) => boolean;
}

const has =
  (...names: string[]) =>
  (row: BenchmarkRow) =>
    names.every((name) => row[name] !== undefined && row[name] !== null);

const readers = {
  gsm8k: {
    read: gsm8k,
    fits: (row) => has('question')(row) && /#### -?[\d.,]+\s*$/.test(String(row.answer)),
  },
  math: { read: math, fits: (row) => has('problem')(row) && (has('solution')(row) || has('answer')(row)) },
  ifeval: { read: ifeval, fits: has('prompt', 'instruction_id_list', 'kwargs') },
  humaneval: { read: humaneval, fits: has('prompt', 'test', 'entry_point') },
  mbpp: { read: mbpp, fits: has('test_list') },
  arc: { read: arc, fits: has('question', 'choices', 'answerKey') },
  mmlu: { read: mmlu, fits: (row) => has('question', 'answer')(row) && Array.isArray(row.choices) },
  hellaswag: { read: hellaswag, fits: has('ctx_a', 'endings', 'label') },
  truthfulqa_mc1: { read: truthfulqaMc1, fits: has('question', 'mc1_targets') },
  truthfulqa_mc2: { read: truthfulqaMc2, fits: has('question', 'mc2_targets') },
} satisfies Readonly<Record<string, Reader>>;

/** Name of a benchmark that can be read. */
export type BenchmarkName = keyof typeof readers;

/** The benchmarks that {@link readBenchmark} reads. */
export const benchmarkNames = Object.keys(readers) as readonly BenchmarkName[];

/** The benchmark that rows have the layout of. `undefined` if they have none that is known. */
export function benchmarkOf(rows: readonly BenchmarkRow[]): BenchmarkName | undefined {
  requireArguments('benchmarkOf', { rows: 'list' }, rows);
  const [first] = rows;
  return first && benchmarkNames.find((name) => (readers[name] as Reader).fits(first));
}

/**
 * Reads a benchmark from the rows of its file, as published: JSON Lines of GSM8K, MATH, IFEval, HumanEval, MBPP, ARC, MMLU,
 * HellaSwag or TruthfulQA.
 *
 * @param name - Default: the benchmark whose layout the first row has.
 * @throws ArgumentError for an unknown name or no row, FormatError for rows of another layout, with their place.
 */
export function readBenchmark(
  rows: readonly BenchmarkRow[],
  settings: BenchmarkOptions & { readonly name?: string | undefined } = {},
): Benchmark {
  requireArguments('readBenchmark', { rows: 'list', options: 'object?' }, rows, settings);
  const { name = benchmarkOf(rows), ...options } = settings;
  const { source = 'readBenchmark' } = options;
  if (rows.length === 0) throw new ArgumentError(`${source}: expected at least one row, got none`);
  if (name === undefined) {
    throw new FormatError(
      `${source}: the rows have the layout of no known benchmark (${Object.keys(rows[0]!).join(', ')}); name one of ${benchmarkNames.join(', ')}`,
    );
  }
  if (!Object.hasOwn(readers, name)) {
    throw new ArgumentError(
      `${source}: no benchmark is named "${name}", expected one of ${benchmarkNames.join(', ')}`,
    );
  }
  return (readers[name as BenchmarkName] as Reader).read(rows, options);
}
