import type { Metrics } from '@rlp/core';

/** Metrics of one batch. */
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

/** Hands metrics to any number of readers and waits for none of them. Each has a bounded queue. */
export class LiveMetricsHub {
  readonly #readers = new Set<Reader>();
  #isClosed = false;

  /** Whether anybody reads. */
  get isWatched(): boolean {
    return this.#readers.size > 0;
  }

  /** Queues metrics for every reader. */
  publish(live: LiveMetrics): void {
    for (const reader of this.#readers) reader.push(live);
  }

  /** Ends all streams after what they have queued. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.end();
  }

  /** A stream of what is published from now on. @param capacity - Batches that wait to be read. More drop the oldest. */
  subscribe(capacity: number): LiveMetricsStream {
    const reader = new Reader(capacity, () => this.#readers.delete(reader));
    if (this.#isClosed) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

type Next = IteratorResult<LiveMetrics, undefined>;
const done: Next = { value: undefined, done: true };

class Reader implements LiveMetricsStream {
  dropped = 0;
  readonly #capacity: number;
  readonly #leave: () => void;
  readonly #waiting: ((next: Next) => void)[] = [];
  #queued: LiveMetrics[] = [];
  #hasEnded = false;

  constructor(capacity: number, leave: () => void) {
    this.#capacity = capacity;
    this.#leave = leave;
  }

  push(live: LiveMetrics): void {
    const reader = this.#waiting.shift();
    if (reader !== undefined) {
      reader({ value: live, done: false });
      return;
    }
    this.#queued.push(live);
    if (this.#queued.length > this.#capacity) {
      this.#queued.shift();
      this.dropped += 1;
    }
  }

  end(): void {
    this.#hasEnded = true;
    this.#leave();
    for (const reader of this.#waiting.splice(0)) reader(done);
  }

  async next(): Promise<Next> {
    const value = this.#queued.shift();
    if (value !== undefined) return { value, done: false };
    return this.#hasEnded ? done : new Promise((resolve) => this.#waiting.push(resolve));
  }

  async return(): Promise<Next> {
    this.#queued = [];
    this.end();
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
