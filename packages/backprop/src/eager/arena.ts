/**
 * Buffers for temporaries, used again and again: what one evaluation after another would allocate, it hands out from a pool
 * by length. A part of the batch that fits a processor's cache then stays in it from one operation to the next.
 */
export class Arena {
  readonly #free = new Map<number, Float64Array[]>();
  readonly #taken = new Set<Float64Array>();

  /** A buffer whose contents are arbitrary, until {@link Arena.release} or {@link Arena.reset}. */
  take(length: number): Float64Array {
    const buffer = this.#free.get(length)?.pop() ?? new Float64Array(length);
    this.#taken.add(buffer);
    return buffer;
  }

  /** A buffer of zeros. */
  zeros(length: number): Float64Array {
    return this.take(length).fill(0);
  }

  /** Takes a buffer back; one that it did not give stays its owner's. */
  release(buffer: Float64Array): void {
    if (!this.#taken.delete(buffer)) return;
    const known = this.#free.get(buffer.length);
    if (known) known.push(buffer);
    else this.#free.set(buffer.length, [buffer]);
  }

  /** Takes back everything. */
  reset(): void {
    for (const buffer of this.#taken) this.release(buffer);
  }
}
