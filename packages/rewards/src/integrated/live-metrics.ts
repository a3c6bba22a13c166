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

class Reader implements LiveMetricsStream {
  dropped = 0;
  readonly #capacity: number;
  readonly #leave: () => void;
  #queued: LiveMetrics[] = [];
  #hasEnded = false;
  #wake: (() => void)[] = [];

  constructor(capacity: number, leave: () => void) {
    this.#capacity = capacity;
    this.#leave = leave;
  }

  push(live: LiveMetrics): void {
    if (this.#queued.push(live) > this.#capacity) {
      this.#queued.shift();
      this.dropped += 1;
    }
    this.#wakeAll();
  }

  end(): void {
    this.#hasEnded = true;
    this.#leave();
    this.#wakeAll();
  }

  async next(): Promise<Next> {
    while (this.#queued.length === 0 && !this.#hasEnded)
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    const value = this.#queued.shift();
    return value === undefined ? { value, done: true } : { value, done: false };
  }

  async return(): Promise<Next> {
    this.#queued = [];
    this.end();
    return this.next();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
