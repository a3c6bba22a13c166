import type { Metrics } from '@rlp/core';

/** Metrics of one batch, as it was processed. */
export interface LiveMetrics {
  /** Counts batches from 0. */
  readonly batch: number;
  /** Such as `reward/mean`, `verification/fail`, `quality/accepted`. */
  readonly metrics: Metrics;
}

/** Metrics as they come. Ends when the system is closed, or when the loop over it is left. */
export interface LiveMetricsStream extends AsyncIterableIterator<LiveMetrics> {
  /** Batches that were dropped, oldest first, because nobody read them in time. */
  readonly dropped: number;
}

interface Subscriber {
  push(live: LiveMetrics): void;
  end(): void;
}

/** Hands metrics to any number of readers, each with a bounded queue of its own, and never waits for any. */
export class LiveMetricsHub {
  readonly #subscribers = new Set<Subscriber>();

  /** Whether anybody reads. */
  get isWatched(): boolean {
    return this.#subscribers.size > 0;
  }

  /** Queues metrics for everybody who reads. */
  publish(live: LiveMetrics): void {
    for (const subscriber of this.#subscribers) subscriber.push(live);
  }

  /** Ends all streams, once they are read to their end. */
  close(): void {
    for (const subscriber of this.#subscribers) subscriber.end();
    this.#subscribers.clear();
  }

  /** A stream of what is published from now on. @param capacity - Batches that wait to be read; more drop the oldest. */
  subscribe(capacity: number): LiveMetricsStream {
    const queue: LiveMetrics[] = [];
    const waiting: ((result: IteratorResult<LiveMetrics, undefined>) => void)[] = [];
    let dropped = 0;
    let ended = false;
    const subscriber: Subscriber = {
      push(live) {
        const reader = waiting.shift();
        if (reader !== undefined) return reader({ value: live, done: false });
        queue.push(live);
        if (queue.length <= capacity) return;
        queue.shift();
        dropped += 1;
      },
      end() {
        ended = true;
        for (const reader of waiting.splice(0)) reader({ value: undefined, done: true });
      },
    };
    this.#subscribers.add(subscriber);
    const leave = () => {
      this.#subscribers.delete(subscriber);
      queue.length = 0;
      subscriber.end();
    };
    return {
      get dropped() {
        return dropped;
      },
      next() {
        const value = queue.shift();
        if (value !== undefined) return Promise.resolve({ value, done: false });
        if (ended) return Promise.resolve({ value: undefined, done: true });
        return new Promise((resolve) => waiting.push(resolve));
      },
      async return() {
        leave();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
