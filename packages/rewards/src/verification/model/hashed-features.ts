/** A sparse vector: bucket to weight. */
export type SparseVector = ReadonlyMap<number, number>;

/** Longest token that counts; longer ones are cut, so that text without spaces costs no more than other text. */
const longestToken = 24;

/**
 * What a text says, as a sparse vector of length 1: which words, pairs of neighbouring words and character n-grams (3 to 5
 * within a word) occur, hashed into `2^bits` buckets. How often does not matter.
 */
export function hashedFeatures(text: string, bits: number): SparseVector {
  const shift = 32 - bits;
  const buckets = new Set<number>();
  const add = (feature: string) => buckets.add(hashed(feature) >>> shift);
  let previous = '^';
  for (const token of tokens(text)) {
    add(`w${token}`);
    add(`b${previous} ${token}`);
    previous = token;
    const padded = `<${token}>`;
    for (let size = 3; size <= 5; size++) {
      for (let start = 0; start + size <= padded.length; start++)
        add(`c${padded.slice(start, start + size)}`);
    }
  }
  const length = Math.sqrt(buckets.size);
  return new Map([...buckets].map((bucket) => [bucket, 1 / length]));
}

/** Lower-case words, with the signs that stand for letters in masked words; runs of a letter over two are cut to two. */
function tokens(text: string): string[] {
  const found = text.toLowerCase().match(/[\p{L}\p{N}*@$#'’!?]+/gu) ?? [];
  return found.map((token) => token.slice(0, longestToken).replace(/(.)\1{2,}/gu, '$1$1'));
}

/** FNV-1a over UTF-16 code units, mixed at the end so that its high bits may be taken. 32 bits. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
