import { orAborted } from '@rlp/core';

/** A lock for work that runs together or alone. Work that runs alone waits for earlier work, and later work waits for it. */
export class SharedLock {
  /** Settles once all work that has begun is done. */
  #together: Promise<unknown> = Promise.resolve();
  /** Settles once all work that runs alone is done. Absent if there is none. */
  #alone: Promise<unknown> | undefined;

  async run<Value>(
    how: 'together' | 'alone',
    signal: AbortSignal,
    work: () => Promise<Value>,
  ): Promise<Value> {
    const before = how === 'together' ? this.#alone : Promise.all([this.#alone, this.#together]);
    let done!: () => void;
    const ended = new Promise<void>((resolve) => {
      done = resolve;
    });
    if (how === 'alone') this.#keep(allOf(before, ended));
    else this.#together = allOf(this.#together, ended);
    try {
      if (before !== undefined) await orAborted(before, signal);
      return await work();
    } finally {
      done();
    }
  }

  #keep(alone: Promise<unknown>): void {
    this.#alone = alone;
    void alone.then(() => {
      if (this.#alone === alone) this.#alone = undefined;
    });
  }
}

/** Settles with all of them. It holds no results, which would be kept one in another. */
async function allOf(...work: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  await Promise.all(work);
}
