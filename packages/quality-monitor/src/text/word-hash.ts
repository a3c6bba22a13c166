/** Hash of no letters. */
export const emptyWord = 0x811c9dc5 | 0;

/** A word's hash with one letter more (FNV-1a over UTF-16 units). */
export function letterHash(hash: number, letter: number): number {
  return Math.imul(hash ^ letter, 0x01000193);
}

export function wordHash(word: string): number {
  let hash = emptyWord;
  for (let at = 0; at < word.length; at++) hash = letterHash(hash, word.charCodeAt(at));
  return hash;
}

/** Hash of two in their order, spread over all bits. */
export function pairHash(first: number, second: number): number {
  let hash = Math.imul(first, 0x85ebca6b) ^ second;
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}
