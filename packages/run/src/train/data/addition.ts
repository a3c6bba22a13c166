import { parseOptions, RandomStream } from '@rlp/core';
import { arithmeticTasks } from '@rlp/env';
import * as z from 'zod';
import type { RunRow } from './rows.ts';

const schema = z.strictObject({
  /** Decimal digits of both addends. Default 2. */
  digits: z.int().min(1).max(9).default(2),
  /** Number of different problems. Default 2000. */
  count: z.int().min(1).default(2000),
  /** `'needed'` makes only problems with at least one carry. Default `'any'`. */
  carry: z.enum(['any', 'needed']).default('any'),
  /** How often the worked solution forgets the carry, 0 to 1. Default 0. */
  carelessness: z.number().min(0).max(1).default(0),
  /** Names the random streams. Defaults to the run's `seed`. */
  seed: z.string().optional(),
});

/** Digits from the ones on. */
const digitsOf = (value: number) => [...String(value)].reverse().map(Number);

/**
 * Worked solution of a sum, column by column, with the carries or without them:
 * `<reasoning>7+5=12,4+8+1=13</reasoning><answer>132</answer>`.
 */
export function workedSolution(
  [a, b]: readonly [number, number],
  carrying: 'carries' | 'forgets the carry',
): string {
  const [first, second] = [digitsOf(a), digitsOf(b)];
  const columns: string[] = [];
  let answer = '';
  let carry = 0;
  for (let place = 0; place < Math.max(first.length, second.length); place++) {
    const [p, q] = [first[place] ?? 0, second[place] ?? 0];
    const sum = p + q + carry;
    columns.push(`${p}+${q}${carry > 0 ? '+1' : ''}=${sum}`);
    const isLast = place === Math.max(first.length, second.length) - 1;
    answer = `${isLast ? sum : sum % 10}${answer}`;
    carry = carrying === 'carries' && sum > 9 ? 1 : 0;
  }
  return `<reasoning>${columns.join(',')}</reasoning><answer>${answer}</answer>`;
}

/**
 * Sums such as `47+85=` with the answer, and a worked solution by a teacher who forgets to carry with probability `carelessness`.
 *
 * @throws OptionsError naming every problem at once, ArgumentError if there are not so many different problems.
 */
export function additionRows(options: Readonly<Record<string, unknown>>, seed: string): RunRow[] {
  const { carelessness, seed: own = seed, ...asked } = parseOptions('data.options', schema, options);
  const stream = RandomStream.named(own, 'teacher');
  return arithmeticTasks({ ...asked, seed: own }).map(({ id, prompt, metadata }) => {
    const carrying = stream.uniform() < carelessness ? 'forgets the carry' : 'carries';
    return {
      id,
      prompt,
      completion: workedSolution(metadata.addends, carrying),
      metadata: { ...metadata },
    };
  });
}
