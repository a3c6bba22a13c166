import type { Region } from './kernel/region.ts';

/**
 * A pool of buffers for temporaries, by length.
 *
 * A part of the batch that fits the processor's cache stays in it from one operation to the next.
 */
export class Arena {
  readonly #free = new Map<number, Float64Array[]>();
  readonly #taken = new Set<Float64Array>();
  readonly #region: Region | undefined;

  /** @param region - Memory that new buffers come from while it has room. By default each buffer is allocated. */
  constructor(region?: Region) {
    this.#region = region;
  }

  /** A buffer whose contents are arbitrary, until {@link Arena.release} or {@link Arena.reset}. */
  take(length: number): Float64Array {
    const buffer = this.#free.get(length)?.pop() ?? this.#region?.take(length) ?? new Float64Array(length);
    this.#taken.add(buffer);
    return buffer;
  }

  /** A buffer of zeros. */
  zeros(length: number): Float64Array {
    return this.take(length).fill(0);
  }

  /** Numbers that are only read. They are copied to a buffer if that speeds operations up. */
  hold(numbers: Float64Array): Float64Array {
    if (this.#region === undefined) return numbers;
    const buffer = this.take(numbers.length);
    buffer.set(numbers);
    return buffer;
  }

  /** Takes a buffer back. Buffers from elsewhere are ignored. */
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
