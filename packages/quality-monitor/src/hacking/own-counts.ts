const slots = 4096;
/** An entry's lower bits count; the others say after which emptying. */
const countBits = 10;
const mostCount = 2 ** countBits - 1;

/** Counts of hashes within one text: emptied in no time, and far larger than texts are, so that sharing a slot is rare. */
export class OwnCounts {
  readonly #entries = new Uint32Array(slots);
  /** Emptyings, in the upper bits. */
  #stamp = 0;

  clear(): void {
    this.#stamp = (this.#stamp + mostCount + 1) >>> 0;
    if (this.#stamp !== 0) return;
    this.#entries.fill(0);
    this.#stamp = mostCount + 1;
  }

  /** Counts a hash; returns how often it occurred before. */
  count(hash: number): number {
    const slot = (hash ^ (hash >>> 12)) & (slots - 1);
    const before = this.#entries[slot]! - this.#stamp;
    if (before < 0) {
      this.#entries[slot] = this.#stamp + 1;
      return 0;
    }
    if (before < mostCount) this.#entries[slot] = this.#stamp + before + 1;
    return before;
  }

  has(hash: number): boolean {
    return this.#entries[(hash ^ (hash >>> 12)) & (slots - 1)]! > this.#stamp;
  }
}
