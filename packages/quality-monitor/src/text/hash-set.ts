/**
 * A set of 64-bit hashes, each given as two halves, that is emptied in no time: words and word sequences of a batch are
 * counted without an object per word.
 */
export class HashSet {
  #low: Int32Array;
  #high: Int32Array;
  /** Which emptying a slot was filled after; other slots are free. */
  #filled: Uint32Array;
  #generation = 1;
  #size = 0;

  /** @param capacity - Slots to begin with, a power of two. */
  constructor(capacity = 1024) {
    this.#low = new Int32Array(capacity);
    this.#high = new Int32Array(capacity);
    this.#filled = new Uint32Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a hash unless it is there. */
  add(low: number, high: number): void {
    const slots = this.#filled.length - 1;
    let slot = (low ^ (high >>> 7)) & slots;
    while (this.#filled[slot] === this.#generation) {
      if (this.#low[slot] === low && this.#high[slot] === high) return;
      slot = (slot + 1) & slots;
    }
    this.#low[slot] = low;
    this.#high[slot] = high;
    this.#filled[slot] = this.#generation;
    this.#size += 1;
    if (2 * this.#size > slots) this.#grow();
  }

  clear(): void {
    this.#size = 0;
    this.#generation += 1;
    if (this.#generation < 2 ** 32) return;
    this.#filled.fill(0);
    this.#generation = 1;
  }

  #grow(): void {
    const [low, high, filled, generation] = [this.#low, this.#high, this.#filled, this.#generation];
    const capacity = 2 * filled.length;
    this.#low = new Int32Array(capacity);
    this.#high = new Int32Array(capacity);
    this.#filled = new Uint32Array(capacity);
    this.#generation = 1;
    this.#size = 0;
    for (const [slot, at] of filled.entries()) if (at === generation) this.add(low[slot]!, high[slot]!);
  }
}
