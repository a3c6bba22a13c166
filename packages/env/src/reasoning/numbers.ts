import type { RandomStream } from '@rlp/core';
import { between, pick, scaled } from '../draws.ts';
import { type Families, isNumber, type Problem } from './family.ts';

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function signed(value: number): string {
  return value < 0 ? `- ${-value}` : `+ ${value}`;
}

/** A value that is not 0. */
function nonzero(random: RandomStream, bound: number): number {
  return between(random, 1, bound) * pick(random, [-1, 1]);
}

function sequence(random: RandomStream, difficulty: number): number[] {
  const length = 6;
  const [start, step] = [
    between(random, 1, scaled(difficulty, 9, 40)),
    between(random, 2, scaled(difficulty, 5, 15)),
  ];
  const kind = pick(random, difficulty < 0.4 ? ['sum'] : ['sum', 'product', 'growing', 'last two']);
  const terms = [start, start + step];
  if (kind === 'product') return Array.from({ length }, (_, n) => start * Math.min(step, 5) ** n);
  for (let n = 2; n < length; n++) {
    const [before, last] = [terms[n - 2]!, terms[n - 1]!];
    if (kind === 'last two') terms.push(before + last);
    else if (kind === 'growing') terms.push(2 * last - before + 2);
    else terms.push(last + step);
  }
  return terms;
}

/** Families about numbers. */
export const numberFamilies: Families = {
  'chain-sum': {
    draw: (random, difficulty) => {
      const digits = scaled(difficulty, 1, 4);
      const terms = Array.from({ length: scaled(difficulty, 3, 8) }, () =>
        between(random, 1, 10 ** digits - 1),
      );
      const signs = terms.map((_, index) => (index === 0 ? 1 : pick(random, [1, -1])));
      const text = terms
        .map((term, index) => (index === 0 ? `${term}` : signed(signs[index]! * term)))
        .join(' ');
      const sum = terms.reduce((total, term, index) => total + signs[index]! * term, 0);
      return { question: `What is ${text}?`, answer: String(sum) };
    },
    check: isNumber,
  },
  gcd: {
    draw: (random, difficulty): Problem => {
      const factor = between(random, 2, scaled(difficulty, 6, 30));
      const [a, b] = [0, 1].map(() => factor * between(random, 1, scaled(difficulty, 9, 60))) as [
        number,
        number,
      ];
      return { question: `What is the greatest common divisor of ${a} and ${b}?`, answer: String(gcd(a, b)) };
    },
    check: isNumber,
  },
  lcm: {
    draw: (random, difficulty) => {
      const [a, b] = [0, 1].map(() => between(random, 2, scaled(difficulty, 12, 90))) as [number, number];
      return {
        question: `What is the least common multiple of ${a} and ${b}?`,
        answer: String((a * b) / gcd(a, b)),
      };
    },
    check: isNumber,
  },
  'base-conversion': {
    draw: (random, difficulty) => {
      const value = between(random, 5, scaled(difficulty, 60, 5000));
      const [from, to] = random.shuffle([2, 3, 5, 8, 10, 12, 16]) as [number, number];
      const question = `Write the number ${value.toString(from)}, which is in base ${from}, in base ${to}. Use small letters for digits above 9.`;
      return { question, answer: value.toString(to) };
    },
  },
  'linear-equation': {
    draw: (random, difficulty) => {
      const bound = scaled(difficulty, 9, 40);
      const x = nonzero(random, bound);
      const [a, b] = [nonzero(random, bound), nonzero(random, bound)];
      const right = difficulty < 0.5 ? 0 : nonzero(random, bound);
      const c = a === right ? right + 1 : right;
      const rest = (a - c) * x + b;
      const side = c === 0 ? String(rest) : `${c}x ${signed(rest)}`;
      return { question: `Solve for x: ${a}x ${signed(b)} = ${side}`, answer: String(x) };
    },
    check: (text, problem) => isNumber(text.replace(/^\s*x\s*=/i, ''), problem),
  },
  polynomial: {
    draw: (random, difficulty) => {
      const degree = scaled(difficulty, 1, 4);
      const coefficients = Array.from({ length: degree + 1 }, () =>
        nonzero(random, scaled(difficulty, 5, 12)),
      );
      const x = nonzero(random, scaled(difficulty, 4, 7));
      const terms = coefficients.map((factor, index) => {
        const power = degree - index;
        const variable = power === 0 ? '' : power === 1 ? 'x' : `x^${power}`;
        return index === 0 ? `${factor}${variable}` : `${signed(factor)}${variable}`;
      });
      const value = coefficients.reduce((sum, factor) => sum * x + factor, 0);
      return { question: `What is p(${x}) for p(x) = ${terms.join(' ')}?`, answer: String(value) };
    },
    check: isNumber,
  },
  'number-sequence': {
    draw: (random, difficulty) => {
      const terms = sequence(random, difficulty);
      return {
        question: `What is the next number? ${terms.slice(0, -1).join(', ')}, …`,
        answer: String(terms.at(-1)),
      };
    },
    check: isNumber,
  },
  'prime-factors': {
    draw: (random, difficulty) => {
      const primes = [2, 3, 5, 7, 11, 13].slice(0, scaled(difficulty, 3, 6));
      const factors = Array.from({ length: scaled(difficulty, 2, 5) }, () => pick(random, primes)).toSorted(
        (a, b) => a - b,
      );
      const product = factors.reduce((total, factor) => total * factor, 1);
      return {
        question: `Write ${product} as a product of primes, the smallest first, such as 2 x 2 x 3.`,
        answer: factors.join(' x '),
      };
    },
    check: (text, { answer }) =>
      text.replaceAll(/[×*·]/g, 'x').replaceAll(/\s/g, '') === answer.replaceAll(' ', ''),
  },
  remainder: {
    draw: (random, difficulty) => {
      const [base, power] = [between(random, 2, 12), between(random, 2, scaled(difficulty, 4, 40))];
      const modulus = between(random, 3, scaled(difficulty, 9, 50));
      let value = 1;
      for (let count = 0; count < power; count++) value = (value * base) % modulus;
      return {
        question: `What is the remainder of ${base}^${power} divided by ${modulus}?`,
        answer: String(value),
      };
    },
    check: isNumber,
  },
};
