import { inNextTurn } from '@rlp/core';

/** Turns that go on before the event loop gets a turn itself. A turn takes some 50 µs besides its environment. */
const sliceTurns = 64;

/**
 * Lets work that was woken all at once go on in slices. A sampler may answer thousands of episodes in one burst. Between two slices the
 * event loop serves timers and sockets.
 */
export class Pace {
  readonly #waiting: (() => void)[] = [];
  #passed = 0;

  /** `undefined` if the caller may go on at once. Otherwise resolves when it may, first come, first served. */
  pass(): Promise<void> | undefined {
    if (this.#passed === sliceTurns) return new Promise((resolve) => this.#waiting.push(resolve));
    if (this.#passed === 0) inNextTurn(() => this.#nextSlice());
    this.#passed += 1;
    return undefined;
  }

  #nextSlice(): void {
    const slice = this.#waiting.splice(0, sliceTurns);
    this.#passed = slice.length;
    if (slice.length > 0) inNextTurn(() => this.#nextSlice());
    for (const goOn of slice) goOn();
  }
}
