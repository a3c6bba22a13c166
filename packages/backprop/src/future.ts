import type { TrainFuture } from '@rlp/core';

/**
 * A {@link TrainFuture} over a promise.
 *
 * An unhandled rejection does not end the process. The failed call changed nothing, and later calls still
 * work. Awaiting the future gives the rejection at any time.
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

/** Runs tasks one at a time, in the order they are given. A failed task does not stop the next. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Starts `task` after every earlier task has settled. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Resolves after every task given so far has settled. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
