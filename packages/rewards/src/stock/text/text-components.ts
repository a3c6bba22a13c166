import { visitWords } from '@rlp/answers/text';
import { parseOptions, requireArguments, requireFields } from '@rlp/core';
import * as z from 'zod';
import { scanText, type TextScan } from './text-scan.ts';

const lengthSchema = z.strictObject({
  /** Words that a response should have. Default 50. */
  targetLength: z.number().positive().default(50),
  /** Share of the target by which a response may miss it at no cost. Default 0.2. */
  tolerance: z.number().min(0).max(1).default(0.2),
});

/** Options of {@link lengthReward}. */
export interface LengthRewardOptions extends z.input<typeof lengthSchema> {}

/** Schema of keywords. */
export const keywordsSchema = z.array(
  z.string().min(1, 'must not be empty: every text contains the empty keyword'),
);

const keywordSchema = z.strictObject({
  /** Texts that a response should contain, in any case. Required. */
  keywords: keywordsSchema.readonly(),
  /** Factor of the bonus for keywords that the prompt lacks. Default 1. */
  bonusMultiplier: z.number().nonnegative().default(1),
});

/** Options of {@link keywordReward}. */
export interface KeywordRewardOptions extends z.input<typeof keywordSchema> {}

const accuracySchema = z.strictObject({
  /** Reference answer of the example. Without one, hedging decides. Default none. */
  reference: z.string().optional(),
  /** Share of the reference's words that earns a reward of 1. Default 0.7. */
  similarityThreshold: z.number().min(0).max(1).default(0.7),
  /**
   * Whether quotation marks, brackets and sentence marks at the ends of a word count. With `'ignored'`, "It is Paris." contains
   * "Paris". textpolicy reads them as `'counted'`. Default `'ignored'`.
   */
  punctuation: z.enum(['ignored', 'counted']).default('ignored'),
});

/** Options of {@link accuracyReward}. */
export interface AccuracyRewardOptions extends z.input<typeof accuracySchema> {}

const perplexitySchema = z.strictObject({
  /** Perplexity that earns a reward of 0. Default 100. */
  maxPerplexity: z.number().gt(1).default(100),
});

/** Options of {@link perplexityReward}. */
export interface PerplexityRewardOptions extends z.input<typeof perplexitySchema> {}

/** Whether marks at the ends of a word belong to it. */
export type WordPunctuation = 'ignored' | 'counted';

/**
 * Closeness of a response to a target length in words:
 *
 *     d = |words − target| / target,   reward = 1 if d ≤ tolerance, else max(0, 1 − (d − tolerance) / (1 − tolerance))
 *
 * 0 for a response without words. Words are runs of characters that are not white space.
 *
 * @see textpolicy, `textpolicy/rewards/basic.py`, `length_reward`
 */
export function lengthReward(response: string, options: LengthRewardOptions = {}): number {
  requireArguments('lengthReward', { response: 'text' }, response);
  return lengthScore(scanText(response).words, parseOptions('lengthReward', lengthSchema, options));
}

/** {@link lengthReward} of a response with `words` words. */
export function lengthScore(
  words: number,
  { targetLength, tolerance }: z.output<typeof lengthSchema>,
): number {
  if (words === 0) return 0;
  const deviation = Math.abs(words - targetLength) / targetLength;
  if (deviation <= tolerance) return 1;
  return Math.max(0, 1 - (deviation - tolerance) / (1 - tolerance));
}

/**
 * Share of the keywords that a response contains, with a bonus for those that the prompt lacks:
 *
 *     reward = min(1, |found| / |keywords| + bonusMultiplier · |found \ prompt| / |keywords \ prompt|)
 *
 * A keyword may stand anywhere, in any case. 0 without keywords, and for a response without words.
 *
 * @see textpolicy, `textpolicy/rewards/basic.py`, `keyword_reward`
 */
export function keywordReward(
  texts: { readonly prompt: string; readonly response: string },
  options: KeywordRewardOptions,
): number {
  const { prompt, response } = requireFields('keywordReward', { prompt: 'text', response: 'text' }, texts);
  const { keywords, bonusMultiplier } = parseOptions('keywordReward', keywordSchema, options);
  return scanText(response).words === 0 ? 0 : keywordScore({ prompt, response }, keywords, bonusMultiplier);
}

/** {@link keywordReward} of a response that has words. */
export function keywordScore(
  { prompt, response }: { readonly prompt: string; readonly response: string },
  keywords: readonly string[],
  bonusMultiplier: number,
): number {
  if (keywords.length === 0) return 0;
  const given = occurrences(prompt, keywords);
  const found = occurrences(response, keywords);
  const fresh = keywords.filter((keyword) => !given.has(keyword));
  const freshFound = fresh.filter((keyword) => found.has(keyword));
  const bonus = fresh.length === 0 ? 0 : freshFound.length / fresh.length;
  const matches = keywords.filter((keyword) => found.has(keyword));
  return Math.min(1, matches.length / keywords.length + bonus * bonusMultiplier);
}

/** Those of `needles` that `text` contains, in any case. */
function occurrences(text: string, needles: readonly string[]): ReadonlySet<string> {
  const lower = text.toLowerCase();
  return new Set(needles.filter((needle) => lower.includes(needle.toLowerCase())));
}

/**
 * Fluency of a response, estimated without a model: 0 without words, 0.2 below three words, else
 *
 *     min(1, (unique words / words) · wordLength · punctuation)
 *
 * `wordLength` is 1 up to a mean of 8 characters and falls by 0.1 for each further one, to 0.3. `punctuation` is 0.8 for ten
 * words or more without any of `.!?`, else 1.
 *
 * @see textpolicy, `textpolicy/rewards/basic.py`, `perplexity_reward`
 */
export function fluencyReward(response: string): number {
  requireArguments('fluencyReward', { response: 'text' }, response);
  return fluencyScore(scanText(response));
}

/** {@link fluencyReward} of a scanned response. */
export function fluencyScore({ words, uniqueWords, letters, sentenceEnds }: TextScan): number {
  if (words === 0) return 0;
  if (words < 3) return 0.2;
  const average = letters / words;
  const wordLength = average <= 8 ? 1 : Math.max(0.3, 1 - (average - 8) * 0.1);
  const punctuation = words < 10 || sentenceEnds === 'some' ? 1 : 0.8;
  return Math.min(1, (uniqueWords / words) * wordLength * punctuation);
}

/**
 * Perplexity as a reward: 1 at a perplexity of 1, falling linearly to 0 at `maxPerplexity`.
 *
 *     reward = max(0, 1 − (perplexity − 1) / (maxPerplexity − 1))
 */
export function perplexityReward(perplexity: number, options: PerplexityRewardOptions = {}): number {
  requireArguments('perplexityReward', { perplexity: 'number' }, perplexity);
  const { maxPerplexity } = parseOptions('perplexityReward', perplexitySchema, options);
  return Math.max(0, Math.min(1, 1 - (perplexity - 1) / (maxPerplexity - 1)));
}

/** Phrases of a response that is not sure of itself. */
const uncertainPhrases: readonly string[] = [
  ...['i think', 'maybe', 'perhaps', 'possibly', 'not sure'],
  ...['might be', 'could be', 'i believe', 'seems like'],
];

/**
 * Agreement of a response with a reference: the share of the reference's words that it contains, divided by
 * `similarityThreshold` and at most 1. Case does not count. 0.5 for a reference without words.
 *
 * Without a reference it is `max(0.3, 1 − 0.2 · hedges)`. `hedges` counts the uncertain phrases that occur, such as "I think".
 * 0 for a response without words.
 *
 * @see textpolicy, `textpolicy/rewards/basic.py`, `accuracy_reward`
 */
export function accuracyReward(response: string, options: AccuracyRewardOptions = {}): number {
  const { reference, ...agreement } = parseOptions('accuracyReward', accuracySchema, options);
  requireArguments('accuracyReward', { response: 'text' }, response);
  if (scanText(response).words === 0) return 0;
  return reference === undefined
    ? confidenceScore(response)
    : agreementScore(response, wordSet(reference, agreement.punctuation), agreement);
}

const hedges = new RegExp(uncertainPhrases.join('|'), 'i');

/** {@link accuracyReward} without a reference. */
export function confidenceScore(response: string): number {
  if (!hedges.test(response)) return 1;
  const lower = response.toLowerCase();
  return Math.max(0.3, 1 - uncertainPhrases.filter((phrase) => lower.includes(phrase)).length * 0.2);
}

/** Distinct words of a text, in lower case. */
export function wordSet(text: string, punctuation: WordPunctuation): ReadonlySet<string> {
  const words = new Set<string>();
  const lower = text.toLowerCase();
  visitWords(lower, (start, end) => {
    words.add(wordAt(lower, start, end, punctuation));
    return undefined;
  });
  return words;
}

/** {@link accuracyReward} with the words of a reference. */
export function agreementScore(
  response: string,
  reference: ReadonlySet<string>,
  { similarityThreshold, punctuation }: Omit<z.output<typeof accuracySchema>, 'reference'>,
): number {
  if (reference.size === 0) return 0.5;
  const said = new Set<string>();
  const lower = response.toLowerCase();
  visitWords(lower, (start, end) => {
    const word = wordAt(lower, start, end, punctuation);
    if (reference.has(word)) said.add(word);
    return said.size === reference.size ? 'stop' : undefined;
  });
  const similarity = said.size / reference.size;
  return similarity >= similarityThreshold ? 1 : similarity / similarityThreshold;
}

const openingMarks = '"\'([{“‘«¿¡';
const closingMarks = '"\')]}”’».,;:!?…';

/** A word without the marks at its ends if they are ignored. A word that consists of marks stays as it is. */
function wordAt(text: string, start: number, end: number, punctuation: WordPunctuation): string {
  let [first, last] = [start, end];
  if (punctuation === 'ignored') {
    while (first < last && openingMarks.includes(text[first]!)) first += 1;
    while (last > first && closingMarks.includes(text[last - 1]!)) last -= 1;
  }
  return first === last ? text.slice(start, end) : text.slice(first, last);
}
