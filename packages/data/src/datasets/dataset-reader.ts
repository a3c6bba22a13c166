import type { DatasetEntry } from './dataset-entry.ts';

/** Reads a dataset entry by entry. */
export class DatasetReader<Row> implements AsyncIterableIterator<DatasetEntry<Row>> {
  readonly #batches: AsyncGenerator<readonly DatasetEntry<Row>[], void, undefined>;
  #batch: readonly DatasetEntry<Row>[] = [];
  #at = 0;
  #isDone = false;
  #filling: Promise<void> | undefined;
  #cursor: number;

  constructor(batches: AsyncGenerator<readonly DatasetEntry<Row>[], void, undefined>, cursor: number) {
    this.#batches = batches;
    this.#cursor = cursor;
  }

  /** Rows read so far, those skipped included. A JSON value: pass it to `read` to continue. */
  get cursor(): number {
    return this.#cursor;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<DatasetEntry<Row>, undefined>> {
    while (this.#at >= this.#batch.length) {
      if (this.#isDone) return { done: true, value: undefined };
      // Calls that wait together wait for the same list.
      this.#filling ??= this.#fill();
      await this.#filling;
    }
    this.#cursor += 1;
    return { done: false, value: this.#batch[this.#at++]! };
  }

  async return(): Promise<IteratorResult<DatasetEntry<Row>, undefined>> {
    await this.#batches.return();
    [this.#batch, this.#isDone] = [[], true];
    return { done: true, value: undefined };
  }

  async #fill(): Promise<void> {
    try {
      const { done, value } = await this.#batches.next();
      this.#isDone = done === true;
      [this.#batch, this.#at] = [value ?? [], 0];
    } finally {
      this.#filling = undefined;
    }
  }
}

/** Rows of a reader. An iterator needs fewer promises than a generator. */
export class RowIterator<Row> implements AsyncIterator<Row, undefined> {
  readonly #entries: DatasetReader<Row>;

  constructor(entries: DatasetReader<Row>) {
    this.#entries = entries;
  }

  async next(): Promise<IteratorResult<Row, undefined>> {
    const { done, value } = await this.#entries.next();
    return done ? { done, value: undefined } : { done: false, value: value.row };
  }

  async return(): Promise<IteratorResult<Row, undefined>> {
    await this.#entries.return();
    return { done: true, value: undefined };
  }
}
