import {
  ArgumentError,
  FormatError,
  isPromiseLike,
  messageOf,
  orAborted,
  parseOptions,
  plural,
} from '@rlp/core';
import * as z from 'zod';
import { type DatasetBatches, DatasetEntry, type DatasetOrigin } from './dataset-entry.ts';
import { DatasetReader, RowIterator } from './dataset-reader.ts';
import { shuffledBatches } from './shuffled-batches.ts';

/** A row by its columns. */
export type DatasetRow = Readonly<Record<string, unknown>>;

/** What a {@link Dataset} reads from. */
export interface DatasetSource<Row> {
  /** Name in errors. */
  readonly name: string;
  /** Opens the rows after the first `skip`. */
  open(skip: number): DatasetBatches<Row>;
  /** Counts the rows, or returns `undefined` if that is not cheaper than reading them. */
  readonly count?: (() => number | undefined | Promise<number | undefined>) | undefined;
}

/** How a {@link Dataset} is read. */
export interface DatasetReading {
  /** Number of rows to skip: the `cursor` of an earlier reading. Default 0. */
  readonly cursor?: number | undefined;
  /** Ends the reading with its reason. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

const shuffleSchema = z.strictObject({
  /** Names the random stream of the shuffle. Default `'dataset'`. */
  seed: z.string().default('dataset'),
  /** Number of the pass. Each pass has its own order. Default 0. */
  epoch: z.int().nonnegative().default(0),
  /** Rows in memory. A dataset with at most as many rows is shuffled as a whole. Default 10,000. */
  buffer: z.int().min(1).default(10_000),
});

/** Options of `Dataset.shuffle`. */
export interface ShuffleOptions extends z.input<typeof shuffleSchema> {}

const cursorSchema = z.int().nonnegative().default(0);

/**
 * Rows that are read as a stream, again for each reading. Methods return new datasets and read nothing.
 *
 *     for await (const row of dataset.filter(({ level }) => level > 2).slice(0, 500)) …
 */
export class Dataset<Row = DatasetRow> implements AsyncIterable<Row> {
  readonly #source: DatasetSource<Row>;

  constructor(source: DatasetSource<Row>) {
    this.#source = source;
  }

  /** Name in errors, such as the file. */
  get name(): string {
    return this.#source.name;
  }

  [Symbol.asyncIterator](): AsyncIterator<Row, undefined> {
    return new RowIterator(this.read());
  }

  /** Reads entries one at a time. Save the reader's `cursor` to continue there later. */
  read(reading: DatasetReading = {}): DatasetReader<Row> {
    const cursor = parseOptions('Dataset.read: cursor', cursorSchema, reading.cursor);
    return new DatasetReader(this.batches(reading), cursor);
  }

  /**
   * Reads entries in lists, which costs less per row than {@link Dataset.read}. No list is empty.
   *
   * @throws FormatError if the cursor is beyond the end, which means that the data are not those of the cursor.
   */
  async *batches(
    reading: DatasetReading = {},
  ): AsyncGenerator<readonly DatasetEntry<Row>[], void, undefined> {
    const skip = parseOptions('Dataset.batches: cursor', cursorSchema, reading.cursor);
    let isEmpty = true;
    for await (const batch of this.#after(skip, reading.signal)) {
      isEmpty = false;
      yield batch;
    }
    if (skip > 0 && isEmpty) await this.#checkCursor(skip);
  }

  /** Lists of the entries after the first `skip`, which may be all. */
  async *#after(
    skip: number,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly DatasetEntry<Row>[], void, undefined> {
    const source = this.#source.open(skip)[Symbol.asyncIterator]();
    try {
      for (;;) {
        signal?.throwIfAborted();
        const { done, value } = await orAborted(source.next(), signal);
        if (done) break;
        if (value.length > 0) yield value;
      }
    } finally {
      const closed = source.return?.();
      if (signal?.aborted) closed?.catch(() => undefined);
      else await closed;
    }
  }

  /** Number of rows. Reads the data unless their size is known. */
  async count({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<number> {
    const known = await this.#source.count?.();
    if (known !== undefined) return known;
    let count = 0;
    for await (const batch of this.batches({ signal })) count += batch.length;
    return count;
  }

  /** All rows in memory. */
  async toArray({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const batch of this.batches({ signal })) for (const { row } of batch) rows.push(row);
    return rows;
  }

  /**
   * Keeps the rows for which `keep` returns `true`.
   *
   * @param keep - A function of the row alone, so that a cursor finds its place again.
   */
  filter(keep: (row: Row) => boolean): Dataset<Row> {
    const filtered = (batch: readonly DatasetEntry<Row>[]) =>
      batch.filter((entry) => called('filter', entry, keep));
    const open = (skip: number) => skipping(mapped(this.batches(), filtered), skip);
    return new Dataset({ name: this.name, open });
  }

  /** Converts each row. Columns named by `fields` are those before the conversion, so name the new ones as they are recognised. */
  map<Output>(convert: (row: Row) => Output): Dataset<Output> {
    const origins = new Map<DatasetOrigin, DatasetOrigin>();
    const originOf = (origin: DatasetOrigin) => {
      if (origin.fields === undefined) return origin;
      const bare = origins.get(origin) ?? { name: origin.name, unit: origin.unit };
      origins.set(origin, bare);
      return bare;
    };
    const converted = (batch: readonly DatasetEntry<Row>[]) =>
      batch.map((entry) => {
        const row = called('map', entry, convert);
        const origin = originOf(entry.origin);
        return new DatasetEntry(row, origin === entry.origin ? entry : { ...entry, origin });
      });
    return new Dataset({
      name: this.name,
      open: (skip) => mapped(this.#after(skip), converted),
      count: this.#source.count,
    });
  }

  /** Rows from `start` to before `end`. Negative numbers count from the end, which costs a count of the rows. */
  slice(start = 0, end?: number): Dataset<Row> {
    const bounds = async (): Promise<readonly [number, number]> => {
      if (start >= 0 && (end === undefined || end >= 0)) return [start, end ?? Number.POSITIVE_INFINITY];
      const rows = await this.count();
      const fromEnd = (bound: number) => (bound < 0 ? Math.max(0, rows + bound) : bound);
      return [fromEnd(start), fromEnd(end ?? rows)];
    };
    const open = (skip: number) => this.#sliced(skip, bounds);
    return new Dataset({ name: this.name, open });
  }

  /**
   * Shuffles through a buffer. The order is a function of the options and the number of rows: the same seed gives the same order.
   *
   * The buffer is filled, then each row read takes the place of a random one of the buffer, which is returned. So a dataset larger
   * than the buffer is shuffled locally: a row can come early by any distance, and late only by chance.
   */
  shuffle(options: ShuffleOptions = {}): Dataset<Row> {
    const resolved = parseOptions('Dataset.shuffle', shuffleSchema, options, 'ShuffleOptions');
    const open = (skip: number) => skipping(shuffledBatches(this.batches(), resolved), skip);
    return new Dataset({ name: this.name, open, count: this.#source.count });
  }

  async *#sliced(
    skip: number,
    bounds: () => Promise<readonly [number, number]>,
  ): AsyncGenerator<readonly DatasetEntry<Row>[], void, undefined> {
    const [start, end] = await bounds();
    let left = end - start - skip;
    if (left <= 0) return;
    for await (const batch of this.#after(start + skip)) {
      yield batch.length > left ? batch.slice(0, left) : batch;
      left -= batch.length;
      if (left <= 0) return;
    }
  }

  async #checkCursor(cursor: number): Promise<void> {
    const rows = await this.count();
    if (cursor <= rows) return;
    throw new FormatError(
      `${this.name}: expected at least ${plural(cursor, 'row')} because the cursor says that as many were read, got ${rows}; ` +
        'continue with the data that the cursor was saved for, or start at 0',
    );
  }
}

/** Throws an `ArgumentError` for what is not a dataset. */
export function requireDataset(owner: string, given: unknown): void {
  if (typeof given === 'object' && given !== null && 'batches' in given) return;
  if (isPromiseLike(given)) throw new ArgumentError(`${owner}: expected a dataset, got a promise; await it`);
  const remedy = Array.isArray(given)
    ? 'datasetOf(rows) makes one of a list'
    : 'loadDataset and datasetOf make one';
  throw new ArgumentError(
    `${owner}: expected a dataset, got ${Array.isArray(given) ? 'a list' : typeof given}; ${remedy}`,
  );
}

/** Calls a user's function. Its error gets the place of the row. */
function called<Row, Output>(what: string, entry: DatasetEntry<Row>, work: (row: Row) => Output): Output {
  try {
    return work(entry.row);
  } catch (cause) {
    throw new ArgumentError(`${entry.place}: the function of ${what} threw: ${messageOf(cause)}`, { cause });
  }
}

async function* mapped<Row, Output>(
  batches: DatasetBatches<Row>,
  convert: (batch: readonly DatasetEntry<Row>[]) => readonly DatasetEntry<Output>[],
): DatasetBatches<Output> {
  for await (const batch of batches) yield convert(batch);
}

/** Leaves out the first rows. */
async function* skipping<Row>(batches: DatasetBatches<Row>, skip: number): DatasetBatches<Row> {
  let left = skip;
  for await (const batch of batches) {
    if (left === 0) yield batch;
    else {
      yield batch.slice(left);
      left = Math.max(0, left - batch.length);
    }
  }
}
