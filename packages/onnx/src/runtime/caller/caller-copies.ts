import type { StoreTensors } from '../protocol.ts';

/** V8 begins a collection when this much memory outside of its heap has been allocated since the last. */
const noticedBytes = 64 * 2 ** 20;

/**
 * Contents that were copied into stores. Whoever created a store has mostly dropped them by the first call of a program, but
 * a thread that only waits for an engine allocates too little for V8 to collect them: as much memory as the model has weights.
 */
export class CallerCopies {
  readonly #allocate: (bytes: number) => unknown;
  #bytes = 0;

  constructor(allocate: (bytes: number) => unknown = (bytes) => new ArrayBuffer(bytes)) {
    this.#allocate = allocate;
  }

  /** These contents are in a store now. */
  copied(contents: StoreTensors): void {
    for (const { data } of contents.values()) this.#bytes += data.byteLength;
  }

  /**
   * Once for what was copied so far: makes V8 look for garbage, by an allocation that nothing touches, so that it takes up no memory.
   * What is still used stays.
   */
  suggestCollection(): void {
    if (this.#bytes < noticedBytes) return;
    this.#bytes = 0;
    try {
      this.#allocate(2 * noticedBytes);
    } catch {
      // Without the memory there is no suggestion, and no harm.
    }
  }
}
