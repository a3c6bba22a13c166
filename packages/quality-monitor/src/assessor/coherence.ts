import type { ReadText } from '../text/read-text.ts';

/**
 * Scores how much a response reads like text, in 0–1. The score is the product of
 *
 * - the share of characters that are neither controls nor garbled,
 * - 1 minus the repetition,
 * - a score of the mean word length. It is 1 for 2 to 12 characters and lower outside.
 *
 * This separates text from noise, loops and binary garbage, not sense from nonsense. Pass the option `coherence` for that.
 */
export function coherenceOf({ characters, chunkCount }: ReadText, repetition: number): number {
  if (chunkCount === 0) return 0;
  const meanLength = characters.all / chunkCount;
  const lengthScore = meanLength < 2 ? meanLength / 2 : Math.min(1, 12 / meanLength);
  return ((characters.all - characters.garbled) / characters.all) * (1 - repetition) * lengthScore;
}
