import { HashSet } from './hash-set.ts';

/** Entries of a response's signature; see {@link WordScanner.signature}. */
export const signatureLength = 64;

const longestSequence = 3;

/**
 * Reads a text's words in one pass and keeps them as hashes: word counts, repetition and signatures cost no strings.
 *
 * Words are what stands between white space. One scanner serves any number of texts, one after the other.
 */
export class WordScanner {
  #low: Int32Array = new Int32Array(1024);
  #high: Int32Array = new Int32Array(1024);
  #count = 0;
  readonly #seen = new HashSet();

  /** Words of the text that was read last. */
  get count(): number {
    return this.#count;
  }

  /** Reads `text`, whatever its case. */
  read(text: string): void {
    this.#count = 0;
    let low = seedLow;
    let high = seedHigh;
    let letters = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (isWhiteSpace(code)) {
        if (letters > 0) this.#push(low, high);
        low = seedLow;
        high = seedHigh;
        letters = 0;
        continue;
      }
      const letter = code >= 65 && code <= 90 ? code + 32 : code;
      low = Math.imul(low ^ letter, 0x01000193);
      high = Math.imul(high + letter, 0x85ebca6b) ^ (high >>> 13);
      letters += 1;
    }
    if (letters > 0) this.#push(low, high);
  }

  /** Adds the text's words to a set. */
  addTo(vocabulary: HashSet): void {
    for (let word = 0; word < this.#count; word++) vocabulary.add(this.#low[word]!, this.#high[word]!);
  }

  /**
   * `1 − different / all` over sequences of three words, in 0..1; 0 where there are none.
   */
  repetition(): number {
    const sequences = this.#count - longestSequence + 1;
    if (sequences <= 0) return 0;
    this.#seen.clear();
    for (let start = 0; start < sequences; start++) {
      this.#seen.add(this.#sequenceLow(start, longestSequence), this.#sequenceHigh(start, longestSequence));
    }
    return 1 - this.#seen.size / sequences;
  }

  /**
   * One-permutation MinHash over sequences of up to three words: two texts agree in about as many entries as the share of
   * sequences they have in common (Jaccard).
   *
   * Each sequence falls into one entry by its hash, which keeps the smallest; an entry that nothing fell into takes the next
   * one's (densification).
   *
   * @param into - Shape: `[signatureLength]`.
   * @see Li, Owen and Zhang 2012, https://arxiv.org/abs/1208.1259; Shrivastava and Li 2014, https://arxiv.org/abs/1406.4784
   */
  signature(into: Uint32Array): void {
    into.fill(empty);
    const length = Math.min(longestSequence, this.#count);
    for (let start = 0; start + length <= this.#count && length > 0; start++) {
      const hash = mixed(this.#sequenceLow(start, length) ^ Math.imul(this.#sequenceHigh(start, length), 5));
      const entry = hash & (signatureLength - 1);
      const rank = hash >>> 6;
      if (rank < into[entry]!) into[entry] = rank;
    }
    densify(into);
  }

  /**
   * A signature that only texts of the same words in the same order share.
   *
   * @param into - Shape: `[signatureLength]`.
   */
  exactSignature(into: Uint32Array): void {
    const [low, high] = [this.#sequenceLow(0, this.#count), this.#sequenceHigh(0, this.#count)];
    for (let entry = 0; entry < signatureLength; entry++)
      into[entry] = mixed((entry & 1 ? high : low) + entry);
  }

  #sequenceLow(start: number, length: number): number {
    let hash = seedLow;
    for (let word = 0; word < length; word++) {
      hash = Math.imul(hash ^ this.#low[start + word]!, 0x01000193) ^ (hash >>> 15);
    }
    return hash;
  }

  #sequenceHigh(start: number, length: number): number {
    let hash = seedHigh;
    for (let word = 0; word < length; word++) {
      hash = Math.imul(hash + this.#high[start + word]!, 0xc2b2ae35) ^ (hash >>> 16);
    }
    return hash;
  }

  #push(low: number, high: number): void {
    if (this.#count === this.#low.length) {
      this.#low = grown(this.#low);
      this.#high = grown(this.#high);
    }
    this.#low[this.#count] = low;
    this.#high[this.#count] = high;
    this.#count += 1;
  }
}

const seedLow = 0x811c9dc5 | 0;
const seedHigh = 0x9e3779b9 | 0;
const empty = 0xffffffff;

/** What Unicode calls white space. */
function isWhiteSpace(code: number): boolean {
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  if (code < 0x85) return false;
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** Spreads a hash over all bits (the finalizer of MurmurHash3). */
function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function densify(entries: Uint32Array): void {
  for (let entry = entries.length - 1, passes = 0; passes < 2 * entries.length; passes++) {
    const next = entries[(entry + 1) % entries.length]!;
    if (entries[entry] === empty && next !== empty) entries[entry] = mixed(next + 1) >>> 6;
    entry = entry === 0 ? entries.length - 1 : entry - 1;
  }
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * array.length);
  larger.set(array);
  return larger;
}
