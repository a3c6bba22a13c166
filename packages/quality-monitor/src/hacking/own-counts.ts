const slots = 4096;

/** Counts of hashes within one text: emptied in no time, and far larger than texts are, so that sharing a slot is rare. */
export class OwnCounts {
  readonly #counts = new Uint16Array(slots);
  readonly #stamps = new Int32Array(slots);
  #stamp = 0;

  clear(): void {
    this.#stamp += 1;
  }

  /** Counts a hash; returns how often it occurred before. */
  count(hash: number): number {
    const slot = (hash ^ (hash >>> 12)) & (slots - 1);
    if (this.#stamps[slot] !== this.#stamp) {
      this.#stamps[slot] = this.#stamp;
      this.#counts[slot] = 1;
      return 0;
    }
    const before = this.#counts[slot]!;
    if (before < 65_535) this.#counts[slot] = before + 1;
    return before;
  }

  has(hash: number): boolean {
    return this.#stamps[(hash ^ (hash >>> 12)) & (slots - 1)] === this.#stamp;
  }
}
