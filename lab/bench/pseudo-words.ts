import type { RandomStream } from '@rlp/core';

const syllables = [
  'ta',
  'ri',
  'on',
  'e',
  'ing',
  'co',
  'mu',
  'per',
  'al',
  'st',
  'o',
  'ne',
  'de',
  'qua',
  'lik',
];

/** Draws pseudo-words with the frequencies of a language, 5,000 different ones. */
export function pseudoWords(random: RandomStream): () => string {
  const vocabulary = Array.from({ length: 5000 }, (_, rank) =>
    Array.from(
      { length: 1 + random.integer(rank < 200 ? 2 : 4) },
      () => syllables[random.integer(syllables.length)],
    ).join(''),
  );
  // Zipf: the rank is exponential in a uniform number.
  return () => vocabulary[Math.floor(vocabulary.length ** random.uniform()) - 1]!;
}
