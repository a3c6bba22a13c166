import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { PlainScanner, type TextScan } from '../kernel/text-scan.ts';
import { visitWords } from '../kernel/white-space.ts';

const lengthSchema = z.strictObject({
  targetLength: z.number().positive().default(50),
  tolerance: z.number().min(0).max(1).default(0.2),
});

/**
 * Options of {@link lengthReward}: `targetLength` (50) in words, and `tolerance` (0.2), the share of the target that a response may
 * be off without losing anything.
 */
export type LengthRewardOptions = z.input<typeof lengthSchema>;

/** Schema of keywords. */
export const keywordsSchema = z.array(
  z.string().min(1, 'must not be empty: every text contains the empty keyword'),
);

const keywordSchema = z.strictObject({
  keywords: keywordsSchema.readonly(),
  bonusMultiplier: z.number().nonnegative().default(1),
});

/** Options of {@link keywordReward}: `keywords`, and `bonusMultiplier` (1), the factor of the bonus for those that the prompt lacks. */
export type KeywordRewardOptions = z.input<typeof keywordSchema>;

const accuracySchema = z.strictObject({
  reference: z.string().optional(),
  similarityThreshold: z.number().min(0).max(1).default(0.7),
  punctuation: z.enum(['ignored', 'counted']).default('ignored'),
});

/**
 * Options of {@link accuracyReward}.
 *
 * - `reference`: the example's answer; without one, hedging is what counts.
 * - `similarityThreshold` (0.7): the share of the reference's words that is good enough for a reward of 1.
 * - `punctuation` (`'ignored'`): whether quotation marks, brackets and sentence marks at the ends of a word belong to it. Ignored,
 *   "It is Paris." contains "Paris"; `'counted'` is the original's reading.
 */
export type AccuracyRewardOptions = z.input<typeof accuracySchema>;

const perplexitySchema = z.strictObject({ maxPerplexity: z.number().gt(1).default(100) });

/** Whether marks at the ends of a word belong to it. */
export type WordPunctuation = 'ignored' | 'counted';

let scanner: PlainScanner | undefined;
const scanWords = (text: string): TextScan => {
  scanner ??= new PlainScanner([]);
  return scanner.scan(text);
};

/**
 * How near a response comes to a length in words:
 *
 *     d = |words − target| / target,   reward = 1 if d ≤ tolerance, else max(0, 1 − (d − tolerance) / (1 − tolerance))
 *
 * 0 for a response without words. Words are runs of characters that are not white space.
 *
 * @throws `OptionsError` for options outside their ranges.
 * @see textpolicy, `textpolicy/rewards/basic.py`, `length_reward`
 */
export function lengthReward(response: string, options: LengthRewardOptions = {}): number {
  return lengthScore(scanWords(response).words, parseOptions('lengthReward', lengthSchema, options));
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
 * Share of the keywords that a response contains, with a bonus for those that the prompt does not:
 *
 *     reward = min(1, |found| / |keywords| + bonusMultiplier · |found \ prompt| / |keywords \ prompt|)
 *
 * A keyword counts wherever it stands, case not counting. 0 without keywords, and for a response without words.
 *
 * @throws `OptionsError` for options outside their ranges.
 * @see textpolicy, `textpolicy/rewards/basic.py`, `keyword_reward`
 */
export function keywordReward(
  { prompt, response }: { readonly prompt: string; readonly response: string },
  options: KeywordRewardOptions,
): number {
  const { keywords, bonusMultiplier } = parseOptions('keywordReward', keywordSchema, options);
  if (scanWords(response).words === 0) return 0;
  const inResponse = occurrences(response, keywords);
  return keywordScore(inResponse, 0, occurrences(prompt, keywords), bonusMultiplier);
}

/** 1 for each of `needles` that `text` contains, case not counting. */
export function occurrences(text: string, needles: readonly string[]): Uint8Array {
  const lower = text.toLowerCase();
  return Uint8Array.from(needles, (needle) => (lower.includes(needle.toLowerCase()) ? 1 : 0));
}

/** {@link keywordReward} of what was found: the keywords' flags begin at `start` in `found`. */
export function keywordScore(
  found: Uint8Array,
  start: number,
  inPrompt: Uint8Array,
  bonusMultiplier: number,
): number {
  const count = inPrompt.length;
  if (count === 0) return 0;
  let matches = 0;
  let fresh = 0;
  let freshMatches = 0;
  for (let k = 0; k < count; k++) {
    const match = found[start + k]!;
    matches += match;
    if (inPrompt[k] === 1) continue;
    fresh += 1;
    freshMatches += match;
  }
  return Math.min(1, matches / count + (fresh === 0 ? 0 : freshMatches / fresh) * bonusMultiplier);
}

/**
 * How fluent a response looks, without a model: 0 without words, 0.2 below three words, else
 *
 *     min(1, (unique words / words) · wordLength · punctuation)
 *
 * with `wordLength` 1 up to a mean of 8 characters and falling by 0.1 for each one more, to 0.3; and `punctuation` 0.8
 * for ten words or more without any of `.!?`, else 1.
 *
 * @see textpolicy, `textpolicy/rewards/basic.py`, `perplexity_reward`
 */
export function fluencyReward(response: string): number {
  return fluencyScore(scanWords(response));
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
 * Perplexity as a reward: 1 for a model that is certain (1), falling linearly to 0 at `maxPerplexity` (default 100).
 *
 *     reward = max(0, 1 − (perplexity − 1) / (maxPerplexity − 1))
 *
 * @throws `OptionsError` for a `maxPerplexity` that is not above 1.
 */
export function perplexityReward(
  perplexity: number,
  options: { readonly maxPerplexity?: number | undefined } = {},
): number {
  const { maxPerplexity } = parseOptions('perplexityReward', perplexitySchema, options);
  return Math.max(0, Math.min(1, 1 - (perplexity - 1) / (maxPerplexity - 1)));
}

/** What a response says that is not sure of itself. */
export const uncertainPhrases: readonly string[] = [
  ...['i think', 'maybe', 'perhaps', 'possibly', 'not sure'],
  ...['might be', 'could be', 'i believe', 'seems like'],
];

/**
 * How well a response agrees with the example's reference: the share of the reference's words (case not counting, nor marks
 * at their ends) that it contains, divided by `similarityThreshold` and at most 1; 0.5 for a reference without words.
 *
 * Without a reference it is `max(0.3, 1 − 0.2 · hedges)`, where `hedges` counts {@link uncertainPhrases} that occur. 0 for
 * a response without words.
 *
 * @throws `OptionsError` for options outside their ranges.
 * @see textpolicy, `textpolicy/rewards/basic.py`, `accuracy_reward`
 */
export function accuracyReward(response: string, options: AccuracyRewardOptions = {}): number {
  const { reference, ...agreement } = parseOptions('accuracyReward', accuracySchema, options);
  if (scanWords(response).words === 0) return 0;
  if (reference === undefined) return confidenceScore(occurrences(response, uncertainPhrases));
  return agreementScore(response, referenceWords(reference, agreement.punctuation), agreement);
}

/** {@link accuracyReward} without a reference; the phrases' flags begin `found`. */
export function confidenceScore(found: Uint8Array): number {
  let hedges = 0;
  for (let k = 0; k < uncertainPhrases.length; k++) hedges += found[k]!;
  return Math.max(0.3, 1 - hedges * 0.2);
}

/** The words of a reference that differ, in lower case. */
export function referenceWords(reference: string, punctuation: WordPunctuation): ReadonlySet<string> {
  const words = new Set<string>();
  const lower = reference.toLowerCase();
  visitWords(lower, (start, end) => {
    words.add(wordAt(lower, start, end, punctuation));
    return undefined;
  });
  return words;
}

/** {@link accuracyReward} with a reference. */
export function agreementScore(
  response: string,
  words: ReadonlySet<string>,
  { similarityThreshold, punctuation }: Omit<z.output<typeof accuracySchema>, 'reference'>,
): number {
  if (words.size === 0) return 0.5;
  const missing = new Set(words);
  const lower = response.toLowerCase();
  visitWords(lower, (start, end) => {
    missing.delete(wordAt(lower, start, end, punctuation));
    return missing.size === 0 ? 'stop' : undefined;
  });
  const similarity = (words.size - missing.size) / words.size;
  return similarity >= similarityThreshold ? 1 : similarity / similarityThreshold;
}

const openingMarks = '"\'([{“‘«¿¡';
const closingMarks = '"\')]}”’».,;:!?…';

/** A word, without the marks at its ends where they are ignored; one of nothing but marks stays as it is. */
function wordAt(text: string, start: number, end: number, punctuation: WordPunctuation): string {
  let [first, last] = [start, end];
  if (punctuation === 'ignored') {
    while (first < last && openingMarks.includes(text[first]!)) first += 1;
    while (last > first && closingMarks.includes(text[last - 1]!)) last -= 1;
  }
  return first === last ? text.slice(start, end) : text.slice(first, last);
}
