import { signatureLength } from './sequences.ts';

/** How the window is kept. */
export interface DuplicateWindowOptions {
  /** Texts that are remembered. */
  readonly size: number;
  /** Share of sequences in common from which on two texts count as one; above 0, at most 1. */
  readonly similarity: number;
}

/** Signature entries that have to agree for two texts to meet; 64 entries are 16 such bands. */
const bandLength = 4;
const bands = signatureLength / bandLength;

/**
 * How many different texts there are among the last ones, where nearly the same counts as the same.
 *
 * A text is new if none of those before it in the window is as similar as asked. Candidates are found by locality-sensitive
 * hashing over bands of the signature: at similarity 0.8 a pair is missed once in 5,000 times. Adding a text takes a time that
 * does not depend on the window.
 *
 * @see Leskovec, Rajaraman, Ullman: Mining of Massive Datasets, §3.4, http://www.mmds.org
 */
export class DuplicateWindow {
  readonly #size: number;
  /** Signature entries that two texts which are the same may differ in. */
  readonly #tolerance: number;
  readonly #signatures: Uint32Array;
  /** How many later texts have this one as their latest like it. */
  readonly #followers: Int32Array;
  /**
   * One more than the number of the latest text with these entries in this band, in 32 bits; 0 for none. Bands share slots by chance and the later text then takes them:
   * candidates are compared in full, so that costs a candidate here and there, never an error.
   */
  readonly #latest: Uint32Array;
  readonly #slotMask: number;
  #added = 0;
  #different = 0;

  constructor({ size, similarity }: DuplicateWindowOptions) {
    this.#size = size;
    this.#tolerance = signatureLength - Math.ceil(similarity * signatureLength);
    this.#signatures = new Uint32Array(size * signatureLength);
    this.#followers = new Int32Array(size);
    const slotsPerBand = 2 ** Math.ceil(Math.log2(4 * size));
    this.#slotMask = slotsPerBand - 1;
    this.#latest = new Uint32Array(bands * slotsPerBand);
  }

  /** Texts in the window. */
  get count(): number {
    return Math.min(this.#added, this.#size);
  }

  /** Different ones among them. */
  get different(): number {
    return this.#different;
  }

  /**
   * Adds a text by its signature.
   *
   * @param keys - Hashes of the signature's bands, where they are known.
   * @returns Whether it is new.
   */
  add(signature: Uint32Array, keys: Int32Array = bandKeys(signature)): 'new' | 'duplicate' {
    const number = this.#added;
    if (number >= this.#size) this.#evict(number - this.#size);
    const slot = number % this.#size;
    const previous = this.#latestLike(signature, keys);
    this.#signatures.set(signature, slot * signatureLength);
    this.#followers[slot] = 0;
    if (previous < 0) this.#different += 1;
    else this.#followers[previous % this.#size]! += 1;
    for (let band = 0; band < bands; band++) this.#latest[this.#place(keys, band)] = number + 1;
    this.#added += 1;
    return previous < 0 ? 'new' : 'duplicate';
  }

  /** Signatures from the oldest text to the newest: added again in this order they make the same window. Shape: `[n × 64]`. */
  signatures(): Uint32Array {
    if (this.#added <= this.#size) return this.#signatures.slice(0, this.#added * signatureLength);
    const all = new Uint32Array(this.#signatures.length);
    const oldest = (this.#added % this.#size) * signatureLength;
    all.set(this.#signatures.subarray(oldest));
    all.set(this.#signatures.subarray(0, oldest), all.length - oldest);
    return all;
  }

  /** Forgets the oldest text: it counted, as nothing is before it; now those that it was the latest like do. */
  #evict(number: number): void {
    this.#different += this.#followers[number % this.#size]! - 1;
  }

  #place(keys: Int32Array, band: number): number {
    return band * (this.#slotMask + 1) + (keys[band]! & this.#slotMask);
  }

  /** Number of the latest text in the window that is like one with this signature; −1 if none is. */
  #latestLike(signature: Uint32Array, keys: Int32Array): number {
    let youngest = this.#size;
    for (let band = 0; band < bands; band++) {
      const entry = this.#latest[this.#place(keys, band)]!;
      const age = (this.#added + 1 - entry) >>> 0;
      if (entry === 0 || age >= youngest) continue;
      if (this.#agrees(signature, (this.#added - age) % this.#size)) youngest = age;
    }
    return youngest === this.#size ? -1 : this.#added - youngest;
  }

  #agrees(signature: Uint32Array, slot: number): boolean {
    const signatures = this.#signatures;
    const start = slot * signatureLength;
    let tolerance = this.#tolerance;
    for (let entry = 0; entry < signatureLength; entry++) {
      if (signatures[start + entry] === signature[entry]) continue;
      tolerance -= 1;
      if (tolerance < 0) return false;
    }
    return true;
  }
}

/**
 * A hash of each of a signature's bands.
 *
 * @param keys - Gets them. Shape: `[16]`.
 */
export function bandKeys(signature: Uint32Array, keys: Int32Array = new Int32Array(bands)): Int32Array {
  for (let band = 0; band < bands; band++) {
    let key = band;
    for (let row = band * bandLength; row < (band + 1) * bandLength; row++) {
      key = Math.imul(key ^ signature[row]!, 0x9e3779b1);
      key ^= key >>> 15;
    }
    keys[band] = key;
  }
  return keys;
}
