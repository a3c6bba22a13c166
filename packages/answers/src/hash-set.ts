/** Least number of slots. */
const leastSlots = 1024;

/** A set of 32-bit hashes. It needs no object per word. Of 100,000 words about one has the hash of another one. */
export class HashSet {
  /** Free slots are 0. */
  #keys = new Int32Array(leastSlots);
  #size = 0;

  /** Number of hashes. */
  get size(): number {
    return this.#size;
  }

  /** Adds a hash unless it is there. 0 counts as 1. */
  add(hash: number): void {
    const keys = this.#keys;
    const key = hash === 0 ? 1 : hash;
    const mask = keys.length - 1;
    let at = (key ^ (key >>> 15)) & mask;
    while (keys[at] !== 0) {
      if (keys[at] === key) return;
      at = (at + 1) & mask;
    }
    keys[at] = key;
    this.#size += 1;
    if (2 * this.#size > keys.length) this.#grow();
  }

  /** Empties the set and shrinks it if it is much too large. */
  clear(): void {
    const slots = this.#keys.length;
    if (slots > leastSlots && 16 * this.#size < slots) this.#keys = new Int32Array(slots / 2);
    else this.#keys.fill(0);
    this.#size = 0;
  }

  #grow(): void {
    const keys = this.#keys;
    this.#keys = new Int32Array(2 * keys.length);
    this.#size = 0;
    for (const key of keys) if (key !== 0) this.add(key);
  }
}
