import { hashText, type TextHash } from '@rlp/core';
import {
  columnsOf,
  type Dataset,
  type DatasetColumns,
  type DatasetFields,
  type DatasetRole,
  type DatasetRow,
} from '@rlp/data';
import { DistinctValues, extendHash } from './distinct-values.ts';

/** What a dataset holds. */
export interface DatasetStatistics {
  readonly rows: number;
  /** Rows that equal an earlier one. */
  readonly duplicates: number;
  readonly columns: readonly ColumnStatistics[];
}

/** What a column holds. */
export interface ColumnStatistics {
  readonly name: string;
  /** How the column is read. Absent if it is not recognised. */
  readonly roles?: readonly DatasetRole[] | undefined;
  /** Rows by kind of value. More than one kind is a sign of trouble. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Rows without the column, with `null` or with empty text. */
  readonly empty: number;
  /** Rows whose id or prompt equals an earlier one. Absent for other columns. */
  readonly repeated?: number | undefined;
  /** Lengths of texts and of conversations. Absent if there are none. */
  readonly lengths?: Lengths | undefined;
}

/** Lengths in characters, or in tokens if there is a tokenizer. */
interface Lengths {
  readonly unit: 'characters' | 'tokens';
  readonly shortest: number;
  readonly median: number;
  /** Nine of ten are at most as long. */
  readonly ninetieth: number;
  readonly longest: number;
}

/** How lengths are counted. */
export interface LengthCounting {
  readonly unit: Lengths['unit'];
  readonly count: (text: string) => number;
}

interface Counting extends LengthCounting {
  readonly fields: DatasetFields;
  readonly signal: AbortSignal | undefined;
}

/** Counts columns, kinds of values, lengths and duplicates. Keeps a hash of each different row, id and prompt in memory. */
export async function datasetStatistics(
  dataset: Dataset,
  { unit, count, fields, signal }: Counting,
): Promise<DatasetStatistics> {
  const drafts = new Map<string, Draft>();
  const rows = new DistinctValues();
  const columnsIn = columnsReader(fields);
  for await (const batch of dataset.batches({ signal })) {
    for (const { row } of batch) rows.add(countedRow(row, { drafts, columns: columnsIn(row), count }));
  }
  const names = Object.fromEntries([...drafts.keys()].map((name) => [name, 1]));
  const roles = Object.entries(columnsOf(names, fields)) as [DatasetRole, string][];
  const columns = Array.from(drafts, ([name, draft]): ColumnStatistics => {
    const own = roles.filter(([, column]) => column === name).map(([role]) => role);
    return {
      name,
      ...(own.length > 0 && { roles: own }),
      kinds: Object.fromEntries(draft.kinds),
      empty: draft.empty + rows.added - draft.present,
      ...(draft.values.added > 0 && { repeated: draft.values.repeated }),
      ...(draft.lengths.size > 0 && { lengths: { unit, ...quantiles(draft.lengths) } }),
    };
  });
  return { rows: rows.added, duplicates: rows.repeated, columns };
}

/** What is counted of a column. */
interface Draft {
  readonly kinds: Map<string, number>;
  empty: number;
  present: number;
  /** How many texts have which length. */
  readonly lengths: Map<number, number>;
  /** Ids or prompts. */
  readonly values: DistinctValues;
}

const newDraft = (): Draft => ({
  ...{ kinds: new Map(), empty: 0, present: 0 },
  ...{ lengths: new Map(), values: new DistinctValues() },
});

interface Surroundings {
  readonly drafts: Map<string, Draft>;
  readonly columns: DatasetColumns;
  readonly count: LengthCounting['count'];
}

/** Counts the values of a row. Returns the row's hash. */
function countedRow(row: DatasetRow, { drafts, columns: { id, prompt }, count }: Surroundings): TextHash {
  const whole = { low: 0, high: 0 };
  for (const [name, value] of Object.entries(row)) {
    const draft = drafts.get(name) ?? newDraft();
    if (draft.present === 0) drafts.set(name, draft);
    const hash = hashOf(value);
    extendHash(whole, hashText(name, columnSeed));
    extendHash(whole, hash);
    if (name === id || name === prompt) draft.values.add(hash);
    draft.present += 1;
    increment(draft.kinds, kindOf(value));
    if (value === null || value === '') draft.empty += 1;
    const text = textOf(value);
    if (text !== undefined) increment(draft.lengths, count(text));
  }
  return whole;
}

const [textSeed, jsonSeed, columnSeed] = [1, 2, 3];

/** Hash of a value. A text differs from JSON that reads the same. */
function hashOf(value: unknown): TextHash {
  return typeof value === 'string'
    ? hashText(value, textSeed)
    : hashText(JSON.stringify(value) ?? '', jsonSeed);
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Reads the columns of rows. Most rows have those of the row before. */
function columnsReader(fields: DatasetFields): (row: DatasetRow) => DatasetColumns {
  let names: readonly string[] = [];
  let columns: DatasetColumns = {};
  return (row) => {
    const own = Object.keys(row);
    const isSame = own.length === names.length && own.every((name, at) => name === names[at]);
    // A column with null gives way to another one.
    const isFull = own.every((name) => (row[name] ?? null) !== null);
    if (isSame && isFull) return columns;
    const found = columnsOf(row, fields);
    if (isFull) [names, columns] = [own, found];
    return found;
  };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : typeof value;
}

/** A text, or the contents of a conversation. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const contents = value.map((message: unknown) => (message as { content?: unknown } | null)?.content);
  return contents.every((content) => typeof content === 'string') && contents.length > 0
    ? contents.join('\n')
    : undefined;
}

function quantiles(lengths: ReadonlyMap<number, number>): Omit<Lengths, 'unit'> {
  const sorted = [...lengths].sort(([a], [b]) => a - b);
  const ends: number[] = [];
  for (const [, count] of sorted) ends.push((ends.at(-1) ?? 0) + count);
  const total = ends.at(-1)!;
  const at = (share: number) => sorted[ends.findIndex((end) => end > Math.ceil(share * (total - 1)))]![0];
  return { shortest: at(0), median: at(0.5), ninetieth: at(0.9), longest: at(1) };
}
