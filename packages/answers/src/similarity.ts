import { requireArguments } from '@rlp/core';
import { distance } from 'fastest-levenshtein';

/** Characters of which the edit distance is computed; what lies beyond counts as edited. */
const maximumCompared = 20_000;

/**
 * How alike two texts are: `1 − distance / length of the longer`, with the Levenshtein distance over UTF-16 units; 1 for two empty
 * texts. Beyond 20,000 characters everything counts as different, which keeps the cost bounded.
 */
export function textSimilarity(a: string, b: string): number {
  requireArguments('textSimilarity', { a: 'text', b: 'text' }, a, b);
  const longer = Math.max(a.length, b.length);
  if (longer === 0) return 1;
  const beyond = longer - Math.min(longer, maximumCompared);
  const edits = distance(a.slice(0, maximumCompared), b.slice(0, maximumCompared)) + beyond;
  return Math.max(0, 1 - edits / longer);
}
