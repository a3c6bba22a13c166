import type { TrainFuture } from '@rlp/core';

/**
 * A {@link TrainFuture} over a promise.
 *
 * A rejection nobody awaits does not end the process: the failed call changed nothing, and later calls still work. Whoever
 * awaits the future, at any time, gets the rejection.
 */
export class Future<T> implements TrainFuture<T> {
  readonly #promise: Promise<T>;
  #settled = false;

  constructor(promise: Promise<T>) {
    const settle = (): void => {
      this.#settled = true;
    };
    this.#promise = promise;
    promise.then(settle, settle);
  }

  get settled(): boolean {
    return this.#settled;
  }

  // biome-ignore lint/suspicious/noThenProperty: a future is awaited
  then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((value: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#promise.then(onFulfilled, onRejected);
  }
}

/** Runs tasks one at a time in the order they are given; a task that fails does not stop the next. */
export class Sequence {
  #last: Promise<unknown> = Promise.resolve();

  /** Starts `task` once every earlier one has settled. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves once every task given so far has settled. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
