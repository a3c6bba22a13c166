import type { ReasoningMetadata } from './index.ts';

const numbersIn = (text: string) => (text.match(/-?\d+/g) ?? []).map(Number);
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/**
 * A second way to each answer about numbers and letters, which reads only the question: by brute force, by the language's own library, or by putting the answer in.
 * Returns whether the answer is right.
 */
export const secondWaysText: Readonly<
  Record<string, (question: string, metadata: ReasoningMetadata) => boolean>
> = {
  'chain-sum': (question, { answer }) =>
    question
      .replaceAll(/ ([+-]) /g, ' $1')
      .match(/[+-]?\d+/g)!
      .reduce((sum, term) => sum + Number(term), 0) === Number(answer),
  gcd: (question, { answer }) => {
    const [a, b] = numbersIn(question) as [number, number];
    return range(Math.min(a, b) + 1).findLast((d) => d > 0 && a % d === 0 && b % d === 0) === Number(answer);
  },
  lcm: (question, { answer }) => {
    const [a, b] = numbersIn(question) as [number, number];
    return range(a * b + 1).find((m) => m > 0 && m % a === 0 && m % b === 0) === Number(answer);
  },
  'base-conversion': (question, { answer }) => {
    const [, digits, from, to] = /number (\w+), which is in base (\d+), in base (\d+)/.exec(question)!;
    return Number.parseInt(digits!, Number(from)) === Number.parseInt(answer, Number(to));
  },
  'linear-equation': (question, { answer }) => {
    const side = (text: string, x: number) =>
      [...text.replaceAll(' ', '').matchAll(/([+-]?\d+)(x?)/g)].reduce(
        (sum, [, n, name]) => sum + Number(n) * (name ? x : 1),
        0,
      );
    const [left, right] = question.replace('Solve for x: ', '').split('=') as [string, string];
    return (
      range(401)
        .map((n) => n - 200)
        .filter((x) => side(left, x) === side(right, x))
        .join() === answer
    );
  },
  polynomial: (question, { answer }) => {
    const [, at, text] = /p\((-?\d+)\) for p\(x\) = (.*)\?/.exec(question)!;
    const terms = [...text!.replaceAll(' ', '').matchAll(/([+-]?\d+)(x?)(?:\^(\d))?/g)];
    return (
      terms.reduce(
        (sum, [, n, x, power]) => sum + Number(n) * (x ? Number(at) ** Number(power ?? 1) : 1),
        0,
      ) === Number(answer)
    );
  },
  'number-sequence': (question, { answer }) => {
    const terms = [...numbersIn(question), Number(answer)];
    const rules = [
      (n: number) => terms[n]! - terms[n - 1]! === terms[1]! - terms[0]!,
      (n: number) => terms[n]! / terms[n - 1]! === terms[1]! / terms[0]!,
      (n: number) => terms[n]! === terms[n - 1]! + terms[n - 2]!,
      (n: number) => terms[n]! - 2 * terms[n - 1]! + terms[n - 2]! === 2,
    ];
    return rules.some((rule) => range(terms.length).slice(2).every(rule));
  },
  'prime-factors': (question, { answer }) => {
    const factors = numbersIn(answer);
    const isPrime = (n: number) =>
      range(n)
        .slice(2)
        .every((d) => n % d !== 0);
    const isOrdered = factors.every((factor, index) => index === 0 || factors[index - 1]! <= factor);
    return isOrdered && factors.every(isPrime) && factors.reduce((a, b) => a * b) === numbersIn(question)[0];
  },
  remainder: (question, { answer }) => {
    const [base, power, modulus] = numbersIn(question) as [number, number, number];
    return BigInt(base) ** BigInt(power) % BigInt(modulus) === BigInt(answer);
  },
  'count-letters': (question, { answer }) => {
    const [, letter, text] = /letter "(.)" in "(.*)"/.exec(question)!;
    return [...text!].filter((other) => other === letter).length === Number(answer);
  },
  'sort-words': (question, { answer }) => {
    const given = question.split(': ')[1]!.split(', ');
    const sorted = answer.split(', ');
    return (
      given.every((word) => sorted.includes(word)) &&
      sorted.length === given.length &&
      sorted.every((word, n) => n === 0 || sorted[n - 1]! < word)
    );
  },
  unscramble: (question, { answer }) => {
    const bag = (text: string) =>
      text
        .split(' ')
        .map((word) => [...word].toSorted().join(''))
        .join(' ');
    return bag(question.split(': ')[1]!) === bag(answer);
  },
  caesar: (question, { answer }) => {
    const by = numbersIn(question)[0]!;
    const code = (letter: string) => letter.charCodeAt(0) - 97;
    const cipher = question.split(': ')[1]!;
    return [...cipher].every((letter, n) =>
      letter === ' ' ? answer[n] === ' ' : (code(letter) - code(answer[n]!) + 26) % 26 === by % 26,
    );
  },
  'reverse-text': (question, { answer }) => {
    const text = question.split(': ')[1]!;
    return text.length === answer.length && range(text.length).every((n) => text[n] === answer.at(-1 - n));
  },
  brackets: (question, { answer }) => {
    let text = question.split('. ').at(-1)!;
    for (let before = ''; before !== text; ) {
      before = text;
      text = text.replaceAll('()', '').replaceAll('[]', '').replaceAll('{}', '');
    }
    return answer === (text === '' ? 'yes' : 'no');
  },
  rewriting: (question, { answer }) => {
    const rules = [...question.matchAll(/"(\w+)" becomes "(\w+)"/g)].map(
      ([, from, to]) => [from!, to!] as const,
    );
    let text = /left of "(\w+)"/.exec(question)![1]!;
    for (let place = 0, rule = 0; rule < rules.length; ) {
      const [from, to] = rules[rule]!;
      if (place > text.length) [rule, place] = [rule + 1, 0];
      else if (text.startsWith(from, place))
        [text, rule, place] = [text.slice(0, place) + to + text.slice(place + from.length), 0, 0];
      else place++;
    }
    return text === answer;
  },
};
