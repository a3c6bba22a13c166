/** Least number of slots. */
const leastSlots = 1024;

/** A set of 64-bit hashes, given as two halves. It needs no object per word. */
export class HashSet {
  /** Both halves of each hash, side by side. Free slots are 0. */
  #keys = new Int32Array(2 * leastSlots);
  #hasZero = false;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a hash unless it is there. */
  add(low: number, high: number): void {
    const keys = this.#keys;
    const mask = keys.length - 2;
    let at = ((low ^ (high >>> 7)) << 1) & mask;
    while (keys[at] !== 0 || keys[at + 1] !== 0) {
      if (keys[at] === low && keys[at + 1] === high) return;
      at = (at + 2) & mask;
    }
    if (low === 0 && high === 0) {
      if (this.#hasZero) return;
      this.#hasZero = true;
    }
    keys[at] = low;
    keys[at + 1] = high;
    this.#size += 1;
    if (4 * this.#size > keys.length) this.#grow();
  }

  /** Empties the set and shrinks it if it is much too large. */
  clear(): void {
    const slots = this.#keys.length / 2;
    if (slots > leastSlots && 16 * this.#size < slots) this.#keys = new Int32Array(slots);
    else this.#keys.fill(0);
    this.#hasZero = false;
    this.#size = 0;
  }

  #grow(): void {
    const keys = this.#keys;
    this.#keys = new Int32Array(2 * keys.length);
    this.#size = this.#hasZero ? 1 : 0;
    for (let at = 0; at < keys.length; at += 2) {
      if (keys[at] !== 0 || keys[at + 1] !== 0) this.add(keys[at]!, keys[at + 1]!);
    }
  }
}
