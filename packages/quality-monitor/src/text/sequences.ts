import type { ReadText } from './read-text.ts';

/** Entries of a text's signature; see {@link Sequences.signature}. */
export const signatureLength = 64;

const longest = 3;
const seedLow = 0x811c9dc5 | 0;
const seedHigh = 0x9e3779b9 | 0;
/** Marks an empty entry of a signature. During its computation, a number above all ranks does. */
const empty = 0xffffffff;
const aboveRanks = 0x7fffffff;

/** Sequences of three chunks of a text. The object is reused for one text after the other. */
export class Sequences {
  #count = 0;
  #repeated = 0;
  /** Hashes of the sequences, in two halves. */
  #low = new Int32Array(1024);
  #high = new Int32Array(1024);
  /** By hash, a sequence's number plus the stamp. Lower entries belong to earlier texts. */
  #slots = new Uint32Array(2048);
  #stamp = 1;
  readonly #lowest = new Int32Array(signatureLength);

  /** Reads a text and forgets the one before. */
  read({ low, high, chunkCount }: ReadText): void {
    this.#stamp += this.#count;
    // A text of one or two chunks is one sequence.
    const length = Math.min(longest, chunkCount);
    this.#count = length === 0 ? 0 : chunkCount - length + 1;
    this.#makeRoom();
    if (length === longest) this.#hashTriples(low, high);
    else [this.#low[0], this.#high[0]] = hashOf(low, high, length);
    this.#repeated = this.#countRepeated();
  }

  /** Sequences that repeat within the text. */
  get repeated(): number {
    return this.#repeated;
  }

  /** `1 − different / all`, in 0–1. 0 without sequences. */
  get repetition(): number {
    return this.#count === 0 ? 0 : 1 - (this.#count - this.#repeated) / this.#count;
  }

  /**
   * One-permutation MinHash. The share of equal entries of two texts estimates the Jaccard similarity of their sequences.
   *
   * Each sequence belongs to one entry by its hash. An entry keeps the smallest hash. Empty entries derive from the next one
   * (densification).
   *
   * @param into - Shape: `[signatureLength]`.
   * @see Li, Owen and Zhang 2012, https://arxiv.org/abs/1208.1259; Shrivastava and Li 2014, https://arxiv.org/abs/1406.4784
   */
  signature(into: Uint32Array): void {
    const [low, high, lowest] = [this.#low, this.#high, this.#lowest];
    lowest.fill(aboveRanks);
    for (let at = 0; at < this.#count; at++) {
      const hash = mixed(low[at]! ^ Math.imul(high[at]!, 5));
      const entry = hash & (signatureLength - 1);
      // The smaller of the two, without an unpredictable branch.
      const less = (hash >>> 6) - lowest[entry]!;
      lowest[entry]! += less & (less >> 31);
    }
    let missing = 0;
    for (let entry = 0; entry < signatureLength; entry++) {
      const isMissing = lowest[entry] === aboveRanks;
      if (isMissing) missing += 1;
      into[entry] = isMissing ? empty : lowest[entry]!;
    }
    if (missing > 0 && missing < signatureLength) densify(into);
  }

  #hashTriples(low: Int32Array, high: Int32Array): void {
    const [lows, highs] = [this.#low, this.#high];
    for (let at = 0; at < this.#count; at++) {
      lows[at] = lowStep(lowStep(lowStep(seedLow, low[at]!), low[at + 1]!), low[at + 2]!);
      highs[at] = highStep(highStep(highStep(seedHigh, high[at]!), high[at + 1]!), high[at + 2]!);
    }
  }

  #countRepeated(): number {
    const [low, high, slots, stamp] = [this.#low, this.#high, this.#slots, this.#stamp];
    const mask = slots.length - 1;
    let repeated = 0;
    for (let at = 0; at < this.#count; at++) {
      let slot = (low[at]! ^ (high[at]! >>> 7)) & mask;
      let other = slots[slot]! - stamp;
      while (other >= 0 && (low[other] !== low[at] || high[other] !== high[at])) {
        slot = (slot + 1) & mask;
        other = slots[slot]! - stamp;
      }
      if (other < 0) slots[slot] = stamp + at;
      else repeated += 1;
    }
    return repeated;
  }

  #makeRoom(): void {
    const count = this.#count;
    if (count > this.#low.length) {
      this.#low = new Int32Array(2 * count);
      this.#high = new Int32Array(2 * count);
      this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(4 * count)));
      this.#stamp = 1;
    } else if (this.#stamp + count >= empty) {
      this.#slots.fill(0);
      this.#stamp = 1;
    }
  }
}

/**
 * A signature that only equal texts share.
 *
 * @param into - Shape: `[signatureLength]`.
 */
export function exactSignature(text: string, into: Uint32Array): void {
  let [ofLow, ofHigh] = [seedLow, seedHigh];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    ofLow = lowStep(ofLow, code);
    ofHigh = highStep(ofHigh, code);
  }
  for (let entry = 0; entry < signatureLength; entry++) {
    into[entry] = mixed((entry & 1 ? ofHigh : ofLow) + entry);
  }
}

/** Both halves of the hash of the first chunks. */
function hashOf(low: Int32Array, high: Int32Array, length: number): [number, number] {
  let [ofLow, ofHigh] = [seedLow, seedHigh];
  for (let at = 0; at < length; at++) {
    ofLow = lowStep(ofLow, low[at]!);
    ofHigh = highStep(ofHigh, high[at]!);
  }
  return [ofLow, ofHigh];
}

function lowStep(hash: number, chunk: number): number {
  return Math.imul(hash ^ chunk, 0x01000193) ^ (hash >>> 15);
}

function highStep(hash: number, chunk: number): number {
  return Math.imul(hash + chunk, 0xc2b2ae35) ^ (hash >>> 16);
}

/** Spreads a hash over all bits (the finalizer of MurmurHash3). */
function mixed(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Fills empty entries downwards from a full one, each from the one after it. */
function densify(entries: Uint32Array): void {
  let start = 0;
  while (entries[start] === empty) start += 1;
  let next = entries[start]!;
  for (let step = 1; step < signatureLength; step++) {
    const entry = (start - step) & (signatureLength - 1);
    if (entries[entry] === empty) entries[entry] = mixed(next + 1) >>> 6;
    next = entries[entry]!;
  }
}
