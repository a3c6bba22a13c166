import { ArgumentError, FormatError, parseOptions, RandomStream } from '@rlp/core';
import * as z from 'zod';
import { Dataset, type DatasetRow } from './dataset.ts';
import { type DatasetBatches, DatasetEntry, type MixturePlace } from './dataset-entry.ts';

const partSchema = z.strictObject({
  dataset: z.custom<Dataset<object>>((value) => value instanceof Dataset, 'must be a Dataset'),
  /** Share of the rows, relative to the other weights. Rows are drawn at random until a part ends. */
  weight: z.number().positive().optional(),
  /** Number of rows. A smaller part is read again. */
  size: z.int().positive().optional(),
  /** How often the part is read, such as 2 or 0.5. Default 1. */
  repeat: z.number().positive().optional(),
  /** Name of the part in ids of tasks. Default: the dataset's name. */
  name: z.string().min(1).optional(),
});

const schema = z.strictObject({
  /** Names the random stream of the mixture. Default `'mixture'`. */
  seed: z.string().default('mixture'),
  /** With weights: ends when the first part has ended, or when all have. Parts that end before are read again. Default `'first'`. */
  until: z.enum(['first', 'all']).default('first'),
});

/** Options of {@link mixture}. */
export interface MixtureOptions extends z.input<typeof schema> {}

/** A part of a {@link mixture}. Give one of `weight`, `size` and `repeat`. */
export interface MixturePart<Row = DatasetRow> extends Omit<z.input<typeof partSchema>, 'dataset'> {
  readonly dataset: Dataset<Row>;
}

/** A part with its name. */
interface Part<Row> extends MixturePart<Row> {
  readonly name: string;
}

/**
 * Mixes datasets. The order is a function of the seed and the parts, so a cursor continues exactly. Each part keeps its own order.
 *
 *     mixture([{ dataset: algebra, repeat: 2 }, { dataset: geometry, size: 500 }])
 *     mixture([{ dataset: web, weight: 0.7 }, { dataset: books, weight: 0.3 }], { until: 'all' })
 *
 * With sizes and repeats, each part gives as many rows as it says, spread evenly. With weights, a part is drawn for each row. Ids of tasks
 * get the name of their part, as in `algebra:7`, and `algebra:7~2` for a row that is read again.
 *
 * @throws ArgumentError for no parts, or for weights beside sizes.
 * @throws FormatError for a part without rows, when it is read.
 */
export function mixture<Row = DatasetRow>(
  parts: readonly MixturePart<Row>[],
  options: MixtureOptions = {},
): Dataset<Row> {
  const resolved = parseOptions('mixture', schema, options, 'MixtureOptions');
  parseOptions('mixture: parts', z.array(partSchema), parts);
  if (parts.length === 0) throw new ArgumentError('mixture: expected at least one part, got none');
  const weighted = parts.filter(({ weight }) => weight !== undefined);
  const both = parts.filter(
    ({ weight, size, repeat }) => [weight, size, repeat].filter((each) => each !== undefined).length > 1,
  );
  if (both.length > 0 || (weighted.length > 0 && weighted.length < parts.length)) {
    throw new ArgumentError(
      'mixture: expected a weight for all parts, or a size or a repeat for each; got several kinds together',
    );
  }
  const named = parts.map((part, at) => ({ ...part, name: nameOf(parts, at) }));
  const name = `mixture of ${named.map((part) => part.name).join(', ')}`;
  const rounds = { ...resolved, name, parts: named };
  if (weighted.length > 0) {
    return new Dataset({ name, open: (skip) => mixedBatches(rounds, skip, weightedDraws(rounds)) });
  }
  const count = async () => (await rowsOf(named)).reduce((sum, rows) => sum + rows, 0);
  return new Dataset({ name, open: (skip) => mixedBatches(rounds, skip, evenDraws(rounds)), count });
}

interface Rounds<Row> extends z.output<typeof schema> {
  readonly name: string;
  readonly parts: readonly Part<Row>[];
}

/** Two parts of one name are told apart by their numbers. */
function nameOf<Row>(parts: readonly MixturePart<Row>[], at: number): string {
  const names = parts.map(({ name, dataset }) => name ?? dataset.name);
  const own = names[at]!;
  return names.indexOf(own) === names.lastIndexOf(own) ? own : `${own}#${at + 1}`;
}

/** Rows that each part gives. */
async function rowsOf<Row>(parts: readonly Part<Row>[]): Promise<number[]> {
  const rows: number[] = [];
  for (const { size, repeat = 1, dataset } of parts) {
    rows.push(size ?? Math.round(repeat * (await dataset.count())));
  }
  return rows;
}

/** Draws the part of each row, as an index. */
interface Draws {
  /** Part of the next row, or `undefined` at the end. */
  next(): number | undefined;
  /** Whether the mixture ends with this part, which has no more rows in this round. */
  endsWith(part: number): boolean;
}

/** The chance of a part is its share of the rows that are left. */
async function evenDraws<Row>({ parts, seed }: Rounds<Row>): Promise<Draws> {
  const left = await rowsOf(parts);
  const random = RandomStream.named(seed, 'mixture');
  let total = left.reduce((sum, rows) => sum + rows, 0);
  return {
    next() {
      if (total === 0) return undefined;
      const part = random.weighted(left);
      left[part]! -= 1;
      total -= 1;
      return part;
    },
    endsWith: () => false,
  };
}

async function weightedDraws<Row>({ parts, seed, until }: Rounds<Row>): Promise<Draws> {
  const weights = parts.map(({ weight = 1 }) => weight);
  const random = RandomStream.named(seed, 'mixture');
  const left = new Set(parts.keys());
  return {
    next: () => random.weighted(weights),
    endsWith(part) {
      left.delete(part);
      return until === 'first' || left.size === 0;
    },
  };
}

/** Reads a part, again when it has ended. */
class RepeatedPart<Row> {
  readonly #part: Part<Row>;
  #reader: AsyncIterator<DatasetEntry<Row>> | undefined;
  #round = 0;

  constructor(part: Part<Row>) {
    this.#part = part;
  }

  /** The next row of this round, or `undefined` at its end. The row after that is the first one of the next round. */
  async next(): Promise<DatasetEntry<Row> | undefined> {
    this.#reader ??= this.#part.dataset.read();
    const { done, value } = await this.#reader.next();
    if (!done) return new DatasetEntry(value.row, { ...value, mixed: this.#placeOf(value) });
    this.#reader = undefined;
    this.#round += 1;
    return undefined;
  }

  async close(): Promise<void> {
    await this.#reader?.return?.();
  }

  #placeOf({ mixed }: DatasetEntry<Row>): MixturePlace {
    const { name } = this.#part;
    const again = mixed !== undefined && mixed.round > 0 ? `~${mixed.round + 1}` : '';
    return { part: mixed === undefined ? name : `${name}:${mixed.part}${again}`, round: this.#round };
  }
}

const batchRows = 256;

async function* mixedBatches<Row>(
  { name, parts }: Rounds<Row>,
  skip: number,
  draws: Promise<Draws>,
): DatasetBatches<Row> {
  const drawn = await draws;
  const readers = parts.map((part) => new RepeatedPart(part));
  let left = skip;
  let batch: DatasetEntry<Row>[] = [];
  try {
    for (let part = drawn.next(); part !== undefined; part = drawn.next()) {
      const entry = (await readers[part]!.next()) ?? (await again(drawn, part, readers[part]!));
      if (entry === 'end') break;
      if (entry === undefined) {
        throw new FormatError(
          `${name}: expected rows in ${parts[part]!.name}, got none; look at the file, the split and the slice, or leave the part out`,
        );
      }
      if (left > 0) left -= 1;
      else batch.push(entry);
      if (batch.length < batchRows) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  } finally {
    for (const reader of readers) await reader.close();
  }
}

/** The first row of a part's next round, if the mixture goes on. */
async function again<Row>(draws: Draws, part: number, reader: RepeatedPart<Row>) {
  return draws.endsWith(part) ? ('end' as const) : reader.next();
}
