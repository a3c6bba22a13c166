import type { DatasetFields } from './dataset-fields.ts';

/** Where rows come from: a file or a list. */
export interface DatasetOrigin {
  /** Name in errors, such as the file. */
  readonly name: string;
  /** What its numbers count. */
  readonly unit: 'line' | 'row' | 'element';
  /** Columns that the user named. */
  readonly fields?: DatasetFields | undefined;
}

/** Which part of a mixture a row belongs to, and how often the part was read before. */
export interface MixturePlace {
  readonly part: string;
  readonly round: number;
}

/** A row with its place. */
export class DatasetEntry<Row> {
  readonly row: Row;
  /** Number of the row in its dataset, from 1. Slices, filters and shuffles keep it. */
  readonly number: number;
  /** Line, row or element of the origin, from 1. */
  readonly at: number;
  readonly origin: DatasetOrigin;
  /** Set in mixtures. */
  readonly mixed: MixturePlace | undefined;

  constructor(
    row: Row,
    { number, at, origin, mixed }: Pick<DatasetEntry<Row>, 'number' | 'at' | 'origin'> & Partial<Mixed>,
  ) {
    this.row = row;
    this.number = number;
    this.at = at;
    this.origin = origin;
    this.mixed = mixed;
  }

  /** Place for errors, such as `train.jsonl, line 7`. */
  get place(): string {
    return `${this.origin.name}, ${this.origin.unit} ${this.at}`;
  }

  /** Id for a row without its own: unique in its dataset, or what an own id becomes in a mixture. */
  idFrom(own: string | undefined): string {
    const id = own ?? String(this.number);
    if (this.mixed === undefined) return id;
    const { part, round } = this.mixed;
    return round === 0 ? `${part}:${id}` : `${part}:${id}~${round + 1}`;
  }
}

/** Rows as they are read: lists of entries, as large as is cheap. */
export type DatasetBatches<Row> = AsyncIterable<readonly DatasetEntry<Row>[]>;

interface Mixed {
  readonly mixed: MixturePlace | undefined;
}
