import { counted } from '@rlp/core';
import { wordsOf } from './text.ts';

/** Precision, recall, and their harmonic mean. */
export interface OverlapScore {
  readonly f1: number;
  readonly precision: number;
  readonly recall: number;
}

const nothing: OverlapScore = { f1: 0, precision: 0, recall: 0 };

function overlapScore(common: number, given: number, expected: number): OverlapScore {
  if (common === 0) return nothing;
  const precision = common / given;
  const recall = common / expected;
  return { f1: (2 * precision * recall) / (precision + recall), precision, recall };
}

/**
 * A text as SQuAD's metrics compare it: lower case, no ASCII punctuation, no articles (a, an, the), single spaces.
 *
 * @see Rajpurkar et al. 2016, https://arxiv.org/abs/1606.05250
 */
export function normalizedAnswer(text: string): string {
  const plain = text.toLowerCase().replaceAll(/[!-/:-@[-`{-~]/g, '');
  return wordsOf(plain.replaceAll(/(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu, ' ')).join(' ');
}

const closed = new Set(['yes', 'no', 'noanswer']);

/**
 * The overlap of the words of two answers, as multisets of {@link normalizedAnswer}'s words. Where either is `yes`, `no` or `noanswer`
 * and they differ, 0. Two answers without words give 0.
 *
 * @see SQuAD and HotpotQA evaluation; slime `f1_score`
 */
export function wordOverlap(given: string, expected: string): OverlapScore {
  const [a, b] = [normalizedAnswer(given), normalizedAnswer(expected)];
  if (a !== b && (closed.has(a) || closed.has(b))) return nothing;
  const [words, right] = [wordsOf(a), wordsOf(b)];
  const left = counted(right);
  let common = 0;
  for (const word of words) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    common += 1;
    left.set(word, count - 1);
  }
  return overlapScore(common, words.length, right.length);
}

/** Words of each text that enter the longest common subsequence. */
const maximumCompared = 20_000;

/**
 * ROUGE-L: overlap by the longest common subsequence of words (lower case, runs of ASCII letters and digits, as in Google's
 * `rouge_score` without stemming). Beyond 20,000 words of a text nothing matches any more, which bounds the cost.
 *
 * The subsequence is found bit-parallel, 32 words at a step; no kept package does this, and the plain table is quadratic in memory.
 *
 * @see Lin 2004, https://aclanthology.org/W04-1013; Hyyrö 2004 (bit-vector algorithm for the longest common subsequence)
 */
export function rougeL(given: string, expected: string): OverlapScore {
  const [a, b] = [plainWords(given), plainWords(expected)];
  const common = commonSubsequence(a.slice(0, maximumCompared), b.slice(0, maximumCompared));
  return overlapScore(common, a.length, b.length);
}

function plainWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/** Length of the longest common subsequence: V' = (V + (V & M)) | (V & ¬M), whose zero bits count. */
function commonSubsequence(a: readonly string[], b: readonly string[]): number {
  const blocks = Math.ceil(b.length / 32);
  const places = new Map<string, number[]>();
  b.forEach((word, at) => {
    const known = places.get(word);
    if (known === undefined) places.set(word, [at]);
    else known.push(at);
  });
  const row = new Uint32Array(blocks).fill(0xffffffff);
  const mask = new Uint32Array(blocks);
  for (const word of a) {
    const at = places.get(word);
    if (at === undefined) continue;
    for (const place of at) mask[place >>> 5]! |= 1 << (place & 31);
    addMasked(row, mask);
    for (const place of at) mask[place >>> 5] = 0;
  }
  let zeros = 0;
  for (let at = 0; at < b.length; at++) if (((row[at >>> 5]! >>> (at & 31)) & 1) === 0) zeros += 1;
  return zeros;
}

function addMasked(row: Uint32Array, mask: Uint32Array): void {
  let carry = 0;
  for (let block = 0; block < row.length; block++) {
    const value = row[block]!;
    const sum = value + ((value & mask[block]!) >>> 0) + carry;
    carry = sum > 0xffffffff ? 1 : 0;
    row[block] = (sum >>> 0) | (value & ~mask[block]!);
  }
}

const denial =
  /^(?:not|never|neither|nor|hardly|cannot|unlike|except|excluding|wrong|incorrect|false|pas|nicht|keine?|\p{L}+n['’]t)$/u;
/** What may stand between a denial and what it denies. */
const between = /^(?:a|an|the|in|at|of|on|by|to|be|been|it|is|was|as|called|really|exactly|actually)$/u;

/** "Anything but Paris" and "no Paris" deny as "not Paris" does. */
const otherDenial =
  /(?<!\p{L})(?:no(?=\s+\p{L})|\p{L}*(?:thing|where|one|body) (?:but|except|other than)(?!\p{L}))/gu;

const lowerWords = (text: string): string[] =>
  text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’]\p{L}+)*/gu) ?? [];

/** Signs of a denial as words. */
const signWords = (text: string): string =>
  text.replace(/[≠¬]|!=|!(?=\p{L})/gu, ' not ').replace(/[✗✘❌✖]|\?\s*no(?:pe)?\b/gu, ' wrong ');

/** Whether an answer denies what it shares with the right one: "certainly not Paris". Not if the right one denies it too. */
export function isDenied(given: string, expected: string): boolean {
  const [words, right] = [
    lowerWords(signWords(given.toLowerCase()).replace(otherDenial, 'not')),
    lowerWords(expected),
  ];
  if (right.some((word) => denial.test(word))) return false;
  const shared = new Set(right.filter((word) => !between.test(word)));
  return words.some((word, at) => {
    if (!denial.test(word)) return false;
    // "not in Paris", "Paris is wrong"
    const near = [
      words.slice(at + 1),
      /^(?:wrong|incorrect|false)$/.test(word) ? words.slice(0, at).reverse() : [],
    ];
    return near.some((others) => shared.has(others.find((other) => !between.test(other)) ?? ''));
  });
}
