import { createHash } from 'node:crypto';
import { columnsOf, type Dataset, type DatasetFields, type DatasetRole } from '@rlp/data';

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

interface Draft {
  readonly kinds: Map<string, number>;
  empty: number;
  present: number;
  readonly lengths: number[];
  /** Hashes of ids or prompts. */
  readonly hashes: Set<number>;
  hashed: number;
}

const newDraft = (): Draft => ({
  ...{ kinds: new Map(), empty: 0, present: 0, lengths: [] },
  ...{ hashes: new Set<number>(), hashed: 0 },
});

/** Counts columns, kinds of values, lengths and duplicates. Keeps a few numbers per row in memory. */
export async function datasetStatistics(
  dataset: Dataset,
  { unit, count, fields, signal }: Counting,
): Promise<DatasetStatistics> {
  const drafts = new Map<string, Draft>();
  const hashes = new Set<number>();
  let rows = 0;
  for await (const { row } of dataset.read({ signal })) {
    rows += 1;
    hashes.add(hashOf(row));
    const { id, prompt } = columnsOf(row, fields);
    for (const [name, value] of Object.entries(row)) {
      const draft = drafts.get(name) ?? newDraft();
      drafts.set(name, draft);
      if (name === id || name === prompt) {
        draft.hashes.add(hashOf(value));
        draft.hashed += 1;
      }
      draft.present += 1;
      draft.kinds.set(kindOf(value), (draft.kinds.get(kindOf(value)) ?? 0) + 1);
      if (value === null || value === '') draft.empty += 1;
      const text = textOf(value);
      if (text !== undefined) draft.lengths.push(count(text));
    }
  }
  const names = Object.fromEntries([...drafts.keys()].map((name) => [name, 1]));
  const roles = Object.entries(columnsOf(names, fields)) as [DatasetRole, string][];
  const columns = Array.from(drafts, ([name, draft]): ColumnStatistics => {
    const own = roles.filter(([, column]) => column === name).map(([role]) => role);
    return {
      name,
      ...(own.length > 0 && { roles: own }),
      kinds: Object.fromEntries(draft.kinds),
      empty: draft.empty + rows - draft.present,
      ...(draft.hashed > 0 && { repeated: draft.hashed - draft.hashes.size }),
      ...(draft.lengths.length > 0 && { lengths: { unit, ...quantiles(draft.lengths) } }),
    };
  });
  return { rows, duplicates: rows - hashes.size, columns };
}

function hashOf(value: unknown): number {
  return createHash('md5').update(JSON.stringify(value)).digest().readUIntBE(0, 6);
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

function quantiles(lengths: readonly number[]): Omit<Lengths, 'unit'> {
  const sorted = Float64Array.from(lengths).sort();
  const at = (share: number) => sorted[Math.ceil(share * (sorted.length - 1))]!;
  return { shortest: at(0), median: at(0.5), ninetieth: at(0.9), longest: at(1) };
}
