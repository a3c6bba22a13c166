/** V8 starts a collection after this many bytes were allocated outside its heap. */
const noticedBytes = 64 * 2 ** 20;

/**
 * Contents that were copied into stores.
 *
 * Callers usually drop these arrays before the first call of a program. They hold as much memory as the
 * model's weights. A thread that only waits for an engine allocates too little for V8 to collect them.
 */
export class CallerCopies {
  readonly #allocate: (bytes: number) => unknown;
  #bytes = 0;

  constructor(allocate: (bytes: number) => unknown = (bytes) => new ArrayBuffer(bytes)) {
    this.#allocate = allocate;
  }

  /** Records that contents are in a store now. */
  copied(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Makes V8 look for garbage, once for the contents copied so far.
   *
   * It allocates memory that is never touched, so nothing is taken up. Arrays that are still referenced stay.
   *
   * @param then - `'again'` if the caller may still need the contents, so that the next call looks once more. Default `'done'`.
   */
  suggestCollection(then: 'done' | 'again' = 'done'): void {
    if (this.#bytes < noticedBytes) return;
    if (then === 'done') this.#bytes = 0;
    try {
      this.#allocate(2 * noticedBytes);
    } catch {
      // If the allocation fails, there is no suggestion. That does no harm.
    }
  }
}
