import type { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { between, pick, scaled } from '../draws.ts';
import { evaluate, fractionText } from './expression.ts';
import { type Game, gameTasks } from './game.ts';

const setupSchema = z.strictObject({
  maxTurns: z.int().min(1),
  /** Numbers to use, each once. */
  numbers: z.array(z.int().min(1).max(999)).min(2).max(6).readonly(),
  /** What they have to give. */
  target: z.int().min(1),
});

/** Numbers and a target. */
export interface CountdownSetup extends z.output<typeof setupSchema> {}

/** The puzzle, and the value of the best try. */
export interface CountdownPosition extends Omit<CountdownSetup, 'maxTurns'> {
  /** What the last expression gave, as text. */
  readonly value?: string;
  readonly isRight: boolean;
}

/**
 * Make a number of others with `+ - * /`, using each exactly once. With four numbers and the target 24 it is the 24 game.
 *
 * Difficulty: from 3 numbers to 5, targets up to 30 and up to 200. Three tries. Score: 1 for the target, 0.1 for another value of all
 * numbers. The solver searches all ways to combine the numbers.
 */
export const countdown: Game<CountdownSetup, CountdownPosition> = {
  name: 'countdown',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('countdown', options, (random, difficulty) => ({
      prompt: instructions,
      setup: { maxTurns: 3, ...drawPuzzle(random, scaled(difficulty, 3, 5), scaled(difficulty, 30, 200)) },
    })),
  start: ({ numbers, target }) => ({ numbers, target, isRight: false }),
  play: (position, text) => {
    const { numbers, target } = position;
    const evaluated = evaluate(text.replace(/=[^=]*$/, ''));
    if (typeof evaluated === 'string')
      return { refusal: `I could not read that: ${evaluated}. Expected an expression.` };
    const used = evaluated.numbers.map(Number);
    if (sorted(used) !== sorted(numbers))
      return { refusal: `Use each of ${numbers.join(', ')} exactly once.` };
    const value = fractionText(evaluated.value);
    return { numbers, target, value, isRight: value === String(target) };
  },
  view: ({ numbers, target, value }) =>
    `Numbers: ${numbers.join(', ')}. Target: ${target}.${value === undefined ? '' : ` Last value: ${value}.`}`,
  isOver: ({ isRight }) => isRight,
  score: ({ isRight, value }) => (isRight ? 1 : value === undefined ? 0 : 0.1),
  solve: ({ numbers, target }) =>
    expressionFor(
      numbers.map((value) => ({ value, text: String(value) })),
      target,
    ) ?? '0',
};

const instructions =
  'Write an expression that gives the target. Use each number exactly once, with + - * / and parentheses. You have three tries. Answer ' +
  'with the expression alone.';

function sorted(numbers: readonly number[]): string {
  return numbers.toSorted((a, b) => a - b).join(' ');
}

interface Term {
  readonly value: number;
  readonly text: string;
}

/** The results of two terms. */
function* combinations(a: Term, b: Term): Generator<Term> {
  yield { value: a.value + b.value, text: `(${a.text} + ${b.text})` };
  yield { value: a.value - b.value, text: `(${a.text} - ${b.text})` };
  yield { value: b.value - a.value, text: `(${b.text} - ${a.text})` };
  yield { value: a.value * b.value, text: `(${a.text} * ${b.text})` };
  if (b.value !== 0) yield { value: a.value / b.value, text: `(${a.text} / ${b.text})` };
  if (a.value !== 0) yield { value: b.value / a.value, text: `(${b.text} / ${a.text})` };
}

function expressionFor(terms: readonly Term[], target: number): string | undefined {
  const [only] = terms;
  if (terms.length === 1) return Math.abs(only!.value - target) < 1e-9 ? only!.text : undefined;
  for (const [first, a] of terms.entries()) {
    for (const [offset, b] of terms.slice(first + 1).entries()) {
      const others = terms.filter((_, place) => place !== first && place !== first + 1 + offset);
      for (const term of combinations(a, b)) {
        const found = expressionFor([...others, term], target);
        if (found !== undefined) return found;
      }
    }
  }
  return undefined;
}

/** Numbers that were combined at random until one was left: the target. */
function drawPuzzle(
  random: RandomStream,
  count: number,
  largest: number,
): Pick<CountdownSetup, 'numbers' | 'target'> {
  for (;;) {
    const numbers = Array.from({ length: count }, () => between(random, 1, 25));
    let values = random.shuffle(numbers);
    while (values.length > 1) {
      const [a, b, ...others] = values as [number, number, ...number[]];
      const results = [a + b, Math.abs(a - b), a * b, ...(b > 1 && a % b === 0 ? [a / b] : [])];
      values = random.shuffle([...others, pick(random, results)]);
    }
    const target = values[0]!;
    if (target >= 10 && target <= largest && !numbers.includes(target)) return { numbers, target };
  }
}
