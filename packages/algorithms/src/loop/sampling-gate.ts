import { onAbort } from '@rlp/core';

/** Lets groups be sampled side by side, but not while weights are changed. A change of weights goes before groups that enter later. */
export class SamplingGate {
  #inside = 0;
  #closed: Promise<void> | undefined;
  #onEmpty: (() => void) | undefined;

  /** Resolves, once weights stay, with what leaves again. At once if the signal fires. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    while (this.#closed !== undefined && !signal?.aborted) await orSignal(this.#closed, signal);
    this.#inside += 1;
    return () => {
      this.#inside -= 1;
      if (this.#inside === 0) this.#onEmpty?.();
    };
  }

  /** Runs `change` once nobody is inside. */
  async alone<Result>(change: () => Promise<Result>): Promise<Result> {
    let open = () => {};
    this.#closed = new Promise((resolve) => {
      open = resolve;
    });
    try {
      if (this.#inside > 0) {
        await new Promise<void>((resolve) => {
          this.#onEmpty = resolve;
        });
      }
      return await change();
    } finally {
      this.#onEmpty = undefined;
      this.#closed = undefined;
      open();
    }
  }
}

function orSignal(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve) => {
    const release = onAbort(signal, resolve);
    promise.then(() => {
      release();
      resolve();
    });
  });
}
