import type { RandomStream } from '@rlp/core';
import { between, pick } from '../draws.ts';
import { words } from './words.ts';

/** A function to write: what it does, what it gives, and one way to write it. */
export interface CodeProblem {
  readonly name: string;
  readonly description: string;
  readonly solution: string;
  /** Arguments and results, the first two for the policy to see. */
  readonly examples: readonly { readonly args: readonly unknown[]; readonly result: unknown }[];
}

const list = (random: RandomStream, length = between(random, 3, 8)) =>
  Array.from({ length }, () => between(random, -20, 40));
const text = (random: RandomStream) => `${pick(random, words)}${pick(random, words)}`;

/** Six examples of a function that is written in both forms: here, and as source text for the policy. */
function problem<Args extends [unknown, ...unknown[]]>(
  { name, description, solution }: Omit<CodeProblem, 'examples'>,
  args: () => Args,
  result: (...args: Args) => unknown,
): CodeProblem {
  const examples = Array.from({ length: 6 }, args).map((one) => ({ args: one, result: result(...one) }));
  return { name, description, solution: `function ${name}${solution}`, examples };
}

/** Kinds of problems, the easier ones first. */
export const codeProblems: readonly ((random: RandomStream) => CodeProblem)[] = [
  (random) => {
    const [a, b] = [between(random, 2, 9), between(random, -9, 9)];
    return problem(
      {
        name: 'line',
        description: `takes a number x and returns ${a} times x plus ${b}`,
        solution: `(x) { return ${a} * x + (${b}); }`,
      },
      () => [between(random, -50, 50)],
      (x) => a * x + b,
    );
  },
  (random) => {
    const bound = between(random, 0, 15);
    return problem(
      {
        name: 'countAbove',
        description: `takes a list of numbers and returns how many are above ${bound}`,
        solution: `(numbers) { return numbers.filter((n) => n > ${bound}).length; }`,
      },
      () => [list(random)],
      (numbers) => numbers.reduce((count, n) => count + (n > bound ? 1 : 0), 0),
    );
  },
  (random) => {
    const letters = random
      .shuffle([...'aeiourst'])
      .slice(0, 3)
      .join('');
    return problem(
      {
        name: 'without',
        description: `takes a text and returns it without the letters ${[...letters].join(', ')}`,
        solution: `(text) { return text.replace(/[${letters}]/g, ''); }`,
      },
      () => [text(random)],
      (one) => [...one].filter((letter) => !letters.includes(letter)).join(''),
    );
  },
  (random) => {
    const [low, high] = [between(random, -10, 0), between(random, 5, 20)];
    return problem(
      {
        name: 'clampAll',
        description: `takes a list of numbers and returns it with numbers below ${low} raised to ${low} and numbers above ${high} lowered to ${high}`,
        solution: `(numbers) { return numbers.map((n) => Math.min(${high}, Math.max(${low}, n))); }`,
      },
      () => [list(random)],
      (numbers) => numbers.map((n) => [low, n, high].toSorted((x, y) => x - y)[1]),
    );
  },
  (random) =>
    problem(
      {
        name: 'rotate',
        description:
          'takes a list and a whole number k from 0 on, and returns the list with its first k items moved to the end, one at a time',
        solution:
          '(items, k) { const n = k % items.length; return [...items.slice(n), ...items.slice(0, n)]; }',
      },
      () => [list(random), between(random, 0, 12)],
      (items, k) => {
        const turned = [...items];
        for (let count = 0; count < k; count++) turned.push(turned.shift()!);
        return turned;
      },
    ),
  (random) => {
    const [a, b] = [between(random, 1, 3), between(random, 1, 3)];
    return problem(
      {
        name: 'term',
        description: `takes n and returns term n of the sequence with f(0) = 0, f(1) = 1 and f(n) = ${a} f(n - 1) + ${b} f(n - 2)`,
        solution: `(n) { let [x, y] = [0, 1]; for (let i = 0; i < n; i++) [x, y] = [y, ${a} * y + ${b} * x]; return x; }`,
      },
      () => [between(random, 0, 15)],
      (n) => {
        const terms = [0, 1];
        while (terms.length <= n) terms.push(a * terms.at(-1)! + b * terms.at(-2)!);
        return terms[n];
      },
    );
  },
  (random) =>
    problem(
      {
        name: 'runs',
        description: 'takes a text and returns its runs of equal letters as a list of [letter, length]',
        solution: '(text) { return (text.match(/(.)\\1*/g) ?? []).map((run) => [run[0], run.length]); }',
      },
      () => [Array.from({ length: between(random, 0, 12) }, () => pick(random, [...'aab'])).join('')],
      (one) => {
        const runs: [string, number][] = [];
        for (const letter of one) {
          const last = runs.at(-1);
          if (last?.[0] === letter) last[1]++;
          else runs.push([letter, 1]);
        }
        return runs;
      },
    ),
  (random) => {
    const size = between(random, 2, 4);
    return problem(
      {
        name: 'bestWindow',
        description: `takes a list of at least ${size} numbers and returns the largest sum of ${size} numbers that stand side by side`,
        solution: `(numbers) { let best = -Infinity; for (let i = 0; i + ${size} <= numbers.length; i++) best = Math.max(best, numbers.slice(i, i + ${size}).reduce((a, b) => a + b)); return best; }`,
      },
      () => [list(random, between(random, size, 9))],
      (numbers) => {
        let sum = numbers.slice(0, size).reduce((a, b) => a + b, 0);
        let best = sum;
        for (let end = size; end < numbers.length; end++) {
          sum += numbers[end]! - numbers[end - size]!;
          best = Math.max(best, sum);
        }
        return best;
      },
    );
  },
];
