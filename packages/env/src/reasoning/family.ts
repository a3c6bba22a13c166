import type { RandomStream } from '@rlp/core';

/** A problem of a family. */
export interface Problem {
  readonly question: string;
  readonly answer: string;
  /** What a check needs besides the answer. JSON. */
  readonly data?: unknown;
}

/** A kind of problem. */
interface Family {
  /** Draws a problem. `difficulty` is from 0 to 1. The answer is computed. */
  draw(random: RandomStream, difficulty: number): Problem;
  /** Whether a text answers the problem. Default: it equals the answer, but for case, spaces and a full stop. */
  check?(text: string, problem: Omit<Problem, 'question'>): boolean;
}

/** Families by name. */
export type Families = Readonly<Record<string, Family>>;

/** Text as answers are compared: lower case, single spaces, no full stop, no space around commas. */
export function normalized(text: string): string {
  return text
    .toLowerCase()
    .trim()
    .replace(/\.$/, '')
    .replaceAll(/\s*,\s*/g, ', ')
    .replaceAll(/\s+/g, ' ');
}

/** Compares numbers by value, so that `7.0` and `+7` are `7`. */
export function isNumber(text: string, { answer }: { readonly answer: string }): boolean {
  const plain = text
    .trim()
    .replaceAll(/(?<=\d),(?=\d{3})/g, '')
    .replace(/\.$/, '')
    .replace('−', '-');
  return /^[-+]?\d+(\.\d+)?$/.test(plain) && Number(plain) === Number(answer);
}

/** As many different items as asked for, in random order. */
export function sample<Item>(random: RandomStream, items: readonly Item[], count: number): Item[] {
  return random.shuffle(items).slice(0, count);
}
