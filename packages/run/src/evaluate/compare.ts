import {
  ArgumentError,
  type EvaluatedTask,
  type Evaluation,
  parseOptions,
  RandomStream,
  requireArguments,
} from '@rlp/core';
import * as z from 'zod';
import { binomialTail } from './distributions.ts';
import { meanOf } from './intervals.ts';
import { bootstrapInterval, newcombeInterval, type PairedCounts } from './paired-intervals.ts';

const schema = z.strictObject({
  /** Level of the interval. Default 0.95. */
  confidence: z.number().gt(0).lt(1).default(0.95),
  /** Resamples of the bootstrap and of the permutation test. Default 2000. */
  resamples: z.int().min(100).default(2000),
  /** Names the random streams of the resamples. Default `'comparison'`. */
  seed: z.string().default('comparison'),
});

/** Options of {@link compareEvaluations}. */
export interface CompareOptions extends z.input<typeof schema> {}

/** Difference of two evaluations on the tasks that both scored. */
export interface Comparison {
  /** What is compared: the share of right responses, or the mean reward if one of them has no accuracy. */
  readonly measure: 'accuracy' | 'reward';
  /** Tasks that both scored. */
  readonly tasks: number;
  /** Mean of each over those tasks. */
  readonly first: number;
  readonly second: number;
  /** `second − first`. */
  readonly difference: number;
  /** Ends of the interval of the difference. Absent if all tasks differ equally, unless each has one right or wrong response. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** Two-sided p-value of no difference. */
  readonly pValue: number;
  /** `'mcnemar'` for one right or wrong response per task, else `'permutation'` of the signs of the differences. */
  readonly test: 'mcnemar' | 'permutation';
  /** Tasks on which the second is better, worse, and equal. */
  readonly better: number;
  readonly worse: number;
  readonly equal: number;
}

/**
 * Compares two evaluations task by task, such as those of two checkpoints on one benchmark.
 *
 * Pairing removes the spread between easy and hard tasks. If each task has one right or wrong response, the interval is Newcombe's and
 * the p-value that of McNemar's exact test. Otherwise they are a bootstrap over tasks and a permutation test of the signs of the differences.
 *
 * @throws ArgumentError if the evaluations have no scored task in common.
 */
export function compareEvaluations(
  first: Evaluation,
  second: Evaluation,
  options: CompareOptions = {},
): Comparison {
  requireArguments('compareEvaluations', { first: 'object', second: 'object' }, first, second);
  const { confidence, resamples, seed } = parseOptions(
    'compareEvaluations',
    schema,
    options,
    'CompareOptions',
  );
  if (!Array.isArray(first?.tasks) || !Array.isArray(second?.tasks)) {
    throw new ArgumentError(
      'compareEvaluations: expected two records that evaluate returned, or that were read from their files',
    );
  }
  const measure = first.accuracy !== undefined && second.accuracy !== undefined ? 'accuracy' : 'reward';
  const pairs = pairsOf(first, second, measure);
  if (pairs.length === 0) {
    throw new ArgumentError(
      'compareEvaluations: the evaluations have no scored task in common; evaluate both on the same tasks',
    );
  }
  const differences = pairs.map(([before, after]) => after - before);
  const better = differences.filter((each) => each > 0).length;
  const worse = differences.filter((each) => each < 0).length;
  const isBinary = pairs.flat().every((value) => value === 0 || value === 1);
  const single = first.samples === 1 && second.samples === 1 && measure === 'accuracy' && isBinary;
  const interval = single
    ? newcombeInterval(countsOf(pairs), confidence)
    : bootstrapInterval(differences, { confidence, resamples, seed });
  return {
    measure,
    tasks: pairs.length,
    first: meanOf(pairs.map(([before]) => before)),
    second: meanOf(pairs.map(([, after]) => after)),
    difference: meanOf(differences),
    ...(interval && { low: interval[0], high: interval[1] }),
    pValue: single ? mcnemar(better, worse) : permutationTest(differences, { resamples, seed }),
    test: single ? 'mcnemar' : 'permutation',
    better,
    worse,
    equal: pairs.length - better - worse,
  };
}

/** Counts of pairs that are 0 or 1. */
function countsOf(pairs: readonly (readonly [number, number])[]): PairedCounts {
  const count = (first: number, second: number) =>
    pairs.filter(([before, after]) => before === first && after === second).length;
  return { both: count(1, 1), onlyFirst: count(1, 0), onlySecond: count(0, 1), neither: count(0, 0) };
}

/** Means of the tasks that both evaluations scored. */
function pairsOf(
  first: Evaluation,
  second: Evaluation,
  measure: Comparison['measure'],
): (readonly [number, number])[] {
  const known = new Map(first.tasks.map((task) => [task.task, task]));
  return second.tasks.flatMap((after) => {
    const before = known.get(after.task);
    const values = [before && taskMean(before, measure), taskMean(after, measure)];
    const [a, b] = values;
    return a === undefined || b === undefined ? [] : [[a, b] as const];
  });
}

function taskMean({ correct, rewards }: EvaluatedTask, measure: Comparison['measure']): number | undefined {
  const values = (measure === 'accuracy' ? (correct ?? []) : rewards).filter((value) => value !== null);
  return values.length === 0 ? undefined : meanOf(values.map(Number));
}

/**
 * Exact two-sided McNemar test of `better` against `worse` discordant pairs.
 *
 * @see McNemar 1947, https://doi.org/10.1007/BF02295996
 */
function mcnemar(better: number, worse: number): number {
  const discordant = better + worse;
  return Math.min(1, 2 * binomialTail(Math.max(better, worse), discordant, 0.5));
}

/** Share of random signs that give a mean at least as large, the observed one included. */
function permutationTest(
  differences: readonly number[],
  { resamples, seed }: Pick<z.output<typeof schema>, 'resamples' | 'seed'>,
): number {
  const changed = differences.filter((difference) => difference !== 0);
  const stream = RandomStream.named(seed, 'permutation');
  const observed = Math.abs(changed.reduce((sum, difference) => sum + difference, 0));
  let atLeast = 1;
  for (let resample = 0; resample < resamples; resample++) {
    let sum = 0;
    let signs = 0;
    for (const [place, difference] of changed.entries()) {
      signs = place % 32 === 0 ? Math.floor(stream.uniform() * 2 ** 32) : signs >>> 1;
      sum += signs & 1 ? difference : -difference;
    }
    if (Math.abs(sum) >= observed - 1e-12) atLeast += 1;
  }
  return atLeast / (resamples + 1);
}
