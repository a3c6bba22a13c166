import type { WordScanner } from '../text/words.ts';

/**
 * Whether a response reads like text, in 0..1: the product of
 *
 * - the share of its characters that letters, digits, white space and common punctuation are,
 * - 1 less its repetition,
 * - how near the mean length of its words is to that of language: 1 between 2 and 12 characters, less outside.
 *
 * It tells text from noise, loops and binary garbage. It does not tell sense from nonsense: for that, give the assessor a
 * `coherence` of your own, such as a language model's.
 */
export function coherenceOf(response: string, words: WordScanner, repetition: number): number {
  if (words.count === 0) return 0;
  let plain = 0;
  for (let at = 0; at < response.length; at++) {
    if (isPlain(response.charCodeAt(at))) plain += 1;
  }
  const meanLength = response.length / words.count;
  const lengthScore = meanLength < 2 ? meanLength / 2 : Math.min(1, 12 / meanLength);
  return (plain / response.length) * (1 - repetition) * lengthScore;
}

/** ASCII text and what Unicode has letters in; neither controls nor replacement characters nor halves of pairs. */
function isPlain(code: number): boolean {
  if (code < 127) return code >= 32 || (code >= 9 && code <= 13);
  return code >= 160 && (code < 0xd800 || code > 0xf8ff) && code < 0xfff0;
}
