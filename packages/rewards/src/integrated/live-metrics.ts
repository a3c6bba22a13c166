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

/** Hands metrics to any number of readers, each with its own bounded queue, and never waits for them. */
export class LiveMetricsHub {
  readonly #queues = new Set<MetricsQueue>();
  #state: 'open' | 'closed' = 'open';

  /** Whether anybody reads. */
  get isWatched(): boolean {
    return this.#queues.size > 0;
  }

  /** Queues metrics for everybody who reads. */
  publish(live: LiveMetrics): void {
    for (const queue of this.#queues) queue.push(live);
  }

  /** Ends all streams, once they are read to their end. */
  close(): void {
    this.#state = 'closed';
    for (const queue of this.#queues) queue.end();
    this.#queues.clear();
  }

  /** A stream of what is published from now on. @param capacity - Batches that wait to be read; more drop the oldest. */
  subscribe(capacity: number): LiveMetricsStream {
    const queue = new MetricsQueue(capacity, () => this.#queues.delete(queue));
    if (this.#state === 'closed') queue.end();
    else this.#queues.add(queue);
    return queue;
  }
}

/** One reader's queue. */
class MetricsQueue implements LiveMetricsStream {
  readonly #capacity: number;
  readonly #leave: () => void;
  readonly #waiting: ((result: IteratorResult<LiveMetrics, undefined>) => void)[] = [];
  #queued: LiveMetrics[] = [];
  #dropped = 0;
  #state: 'open' | 'ended' = 'open';

  constructor(capacity: number, leave: () => void) {
    this.#capacity = capacity;
    this.#leave = leave;
  }

  get dropped(): number {
    return this.#dropped;
  }

  push(live: LiveMetrics): void {
    const reader = this.#waiting.shift();
    if (reader !== undefined) {
      reader({ value: live, done: false });
      return;
    }
    this.#queued.push(live);
    if (this.#queued.length <= this.#capacity) return;
    this.#queued.shift();
    this.#dropped += 1;
  }

  end(): void {
    this.#state = 'ended';
    for (const reader of this.#waiting.splice(0)) reader({ value: undefined, done: true });
  }

  next(): Promise<IteratorResult<LiveMetrics, undefined>> {
    const value = this.#queued.shift();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    if (this.#state === 'ended') return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async return(): Promise<IteratorResult<LiveMetrics, undefined>> {
    this.#leave();
    this.#queued = [];
    this.end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
