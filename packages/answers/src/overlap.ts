import { counted, requireArguments } from '@rlp/core';
import { conclusion, sentenceEnds, stanceOf } from './extract/stances.ts';
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
  requireArguments('normalizedAnswer', { text: 'text' }, text);
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
  requireArguments('wordOverlap', { given: 'text', expected: 'text' }, given, expected);
  const [a, b] = [normalizedAnswer(given), normalizedAnswer(expected)];
  if (a !== b && (closed.has(a) || closed.has(b))) return nothing;
  const [words, right] = [wordsOf(a), wordsOf(b)];
  const left = counted(right);
  let common = 0;
  for (const [word, count] of counted(words)) common += Math.min(count, left.get(word) ?? 0);
  return overlapScore(common, words.length, right.length);
}

/** Words of each text that enter the longest common subsequence. */
const maximumCompared = 20_000;

/**
 * ROUGE-L: overlap by the longest common subsequence of words (lower case, runs of ASCII letters and digits, as in Google's
 * `rouge_score` without stemming). Beyond 20,000 words of a text nothing matches any more, which bounds the cost.
 *
 * The subsequence is found bit-parallel; no kept package does this, and the plain table is quadratic in memory.
 *
 * @see Lin 2004, https://aclanthology.org/W04-1013; Hyyrö 2004 (bit-vector algorithm for the longest common subsequence)
 */
export function rougeL(given: string, expected: string): OverlapScore {
  requireArguments('rougeL', { given: 'text', expected: 'text' }, given, expected);
  const [a, b] = [plainWords(given), plainWords(expected)];
  const common = commonSubsequence(a.slice(0, maximumCompared), b.slice(0, maximumCompared));
  return overlapScore(common, a.length, b.length);
}

function plainWords(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
}

/** Length of the longest common subsequence: V' = (V + (V & M)) | (V & ¬M), whose zero bits count. */
function commonSubsequence(a: readonly string[], b: readonly string[]): number {
  const places = new Map<string, bigint>();
  for (const [at, word] of b.entries()) places.set(word, (places.get(word) ?? 0n) | (1n << BigInt(at)));
  let row = (1n << BigInt(b.length)) - 1n;
  for (const word of a) {
    const matched = row & (places.get(word) ?? 0n);
    if (matched !== 0n) row = BigInt.asUintN(b.length, (row + matched) | (row - matched));
  }
  return b.length - row.toString(2).replaceAll('0', '').length;
}

/** Words that say nothing by themselves. */
const small = new Set('a an the in at of on by to be been it is was as and'.split(' '));
const word = /[\p{L}\p{N}]+(?:['’]\p{L}+)*/gu;
const contentWords = (text: string) =>
  (text.toLowerCase().match(word) ?? []).filter((one) => !small.has(one));
/** Values that only small words part: one value. */
const adjacent = /•(?:[^\p{L}\p{N}.!?•]{1,4}(?:(?:an?|the|in|at|of|on|by|to|and)\s)*•)+/gu;
/** "Not Rome but", before what is meant. */
const setAside = /(?<![\p{L}\p{N}])not (?!only)[^.;\n]{1,60}?[, ]but (?=\p{L})/giu;
/** Sentences, and characters of one, that are judged. */
const [mostJudged, mostRead] = [100, 600];

/**
 * A text without the sentences that deny what they share with another text ("certainly not Paris"), or only ask for it. A sentence
 * with less than half of the other text's words denies nothing of it.
 */
export function withoutDenied(given: string, expected: string): string {
  requireArguments('withoutDenied', { given: 'text', expected: 'text' }, given, expected);
  const right = new Set(contentWords(expected));
  const sentences = given.replace(setAside, '').split(sentenceEnds);
  let judged = 0;
  const stances = sentences.map((sentence, at) => {
    const shared = new Set(contentWords(sentence).filter((one) => right.has(one)));
    if (shared.size === 0 || 2 * shared.size < right.size || judged++ >= mostJudged) return undefined;
    const marked = sentence
      .slice(0, mostRead)
      .replace(word, (one) => (shared.has(one.toLowerCase()) ? '•' : one));
    return stanceOf(`${conclusion(marked.replace(adjacent, '•'))} ${sentences[at + 1]?.slice(0, 200) ?? ''}`);
  });
  const isStated = stances.includes('asserts');
  return sentences
    .filter((_, at) => stances[at] !== 'denies' && (stances[at] !== 'asks' || isStated))
    .join(' ');
}
