import { ArgumentError, parseOptions, plural, RandomStream, type Task } from '@rlp/core';
import * as z from 'zod';

const schema = z.strictObject({
  /** Decimal digits of both addends. Default 2. */
  digits: z.int().min(1).max(9).default(2),
  /** Number of different problems. */
  count: z.int().min(1),
  /** Names the random stream of the draws. Default `'arithmetic'`. */
  seed: z.string().default('arithmetic'),
  /** `'needed'` makes only problems with at least one carry. Default `'any'`. */
  carry: z.enum(['any', 'needed']).default('any'),
});

/** Options of {@link arithmeticTasks}. */
export interface ArithmeticOptions extends z.input<typeof schema> {}

/** What a grader of additions needs. */
export interface ArithmeticMetadata {
  readonly addends: readonly [number, number];
  /** Their sum, in decimal. */
  readonly answer: string;
}

/**
 * Additions with prompts like `47+85=`. The problems differ and come in random order, all with exactly `digits` digits.
 *
 * @throws ArgumentError if there are not so many different problems; OptionsError for bad options.
 */
export function arithmeticTasks(options: ArithmeticOptions): Task<ArithmeticMetadata>[] {
  const { digits, count, seed, carry } = parseOptions(
    'arithmeticTasks',
    schema,
    options,
    'ArithmeticOptions',
  );
  const least = digits === 1 ? 0 : 10 ** (digits - 1);
  const range = 10 ** digits - least;
  const stream = RandomStream.named(seed, 'arithmetic', digits);
  const isWanted = (a: number, b: number) => carry === 'any' || needsCarry(a, b);
  const isCrowded = count * 20 > range * range;
  const pairs = isCrowded ? everyPair(stream, least, range) : differentPairs(stream, least, range);

  const tasks: Task<ArithmeticMetadata>[] = [];
  for (const [a, b] of pairs) {
    if (!isWanted(a, b)) continue;
    tasks.push({
      id: `${a}+${b}`,
      prompt: `${a}+${b}=`,
      metadata: { addends: [a, b], answer: String(a + b) },
    });
    if (tasks.length === count) return tasks;
  }
  throw new ArgumentError(
    `arithmeticTasks: there are only ${tasks.length} different problems of ${plural(digits, 'digit')}, asked for ${count}: ` +
      'ask for fewer or for more digits',
  );
}

/** All pairs, shuffled. Used when nearly all of them are wanted. */
function everyPair(stream: RandomStream, least: number, range: number): [number, number][] {
  const pairs = Array.from({ length: range * range }, (_, index): [number, number] => [
    least + Math.floor(index / range),
    least + (index % range),
  ]);
  return stream.shuffle(pairs);
}

/** Different pairs as they are drawn, until half of all are used up. */
function* differentPairs(stream: RandomStream, least: number, range: number): Generator<[number, number]> {
  const seen = new Set<string>();
  while (seen.size * 2 < range * range) {
    const pair: [number, number] = [least + stream.integer(range), least + stream.integer(range)];
    const key = pair.join('+');
    if (seen.has(key)) continue;
    seen.add(key);
    yield pair;
  }
}

/** Whether some column of digits sums to more than 9. */
function needsCarry(a: number, b: number): boolean {
  for (let x = a, y = b; x > 0 && y > 0; x = Math.floor(x / 10), y = Math.floor(y / 10)) {
    if ((x % 10) + (y % 10) > 9) return true;
  }
  return false;
}
