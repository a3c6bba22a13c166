import { mixedHash } from '@rlp/core';

/** A sparse vector: bucket to weight. */
export type SparseVector = ReadonlyMap<number, number>;

/** Longest token that counts. Longer ones are cut, so that text without spaces costs no more than other text. */
const longestToken = 24;

/**
 * What a text says, as a sparse vector of length 1: which words, pairs of neighbouring words and character n-grams (3 to 5
 * within a word) occur, hashed into `2^bits` buckets. How often does not matter.
 */
export function hashedFeatures(text: string, bits: number): SparseVector {
  const shift = 32 - bits;
  const buckets = new Set<number>();
  let previous = '^';
  for (const token of tokens(text)) {
    buckets.add(mixedHash(continued(wordStart, token)) >>> shift);
    buckets.add(mixedHash(continued(pairStart, `${previous} ${token}`)) >>> shift);
    previous = token;
    const padded = `<${token}>`;
    for (let start = 0; start + 3 <= padded.length; start++) {
      const end = Math.min(padded.length, start + 5);
      let hash = gramStart;
      for (let at = start; at < end; at++) {
        hash = Math.imul(hash ^ padded.charCodeAt(at), prime);
        if (at - start >= 2) buckets.add(mixedHash(hash) >>> shift);
      }
    }
  }
  const weight = 1 / Math.sqrt(buckets.size);
  const vector = new Map<number, number>();
  for (const bucket of buckets) vector.set(bucket, weight);
  return vector;
}

/** Lower-case words, with the signs that stand for letters in masked words. Runs of a letter over two are cut to two. */
function tokens(text: string): string[] {
  const found = text.toLowerCase().match(/[\p{L}\p{N}*@$#'’!?]+/gu) ?? [];
  return found.map((token) => token.slice(0, longestToken).replace(/(.)\1{2,}/gu, '$1$1'));
}

const prime = 0x01000193;

/** FNV-1a over UTF-16 code units, continued from a state. */
function continued(state: number, text: string): number {
  let hash = state;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  return hash;
}

// Kinds of features begin apart, so that a word is not its own n-gram.
const wordStart = continued(0x811c9dc5, 'w');
const pairStart = continued(0x811c9dc5, 'b');
const gramStart = continued(0x811c9dc5, 'c');
