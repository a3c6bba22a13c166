import { ArgumentError, FormatError, isRecord, parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { parseJsonLines } from '../lines/json-lines.ts';
import { parseCsv } from '../tables/parse-csv.ts';
import { Dataset, type DatasetRow } from './dataset.ts';
import { type DatasetBatches, DatasetEntry, type DatasetOrigin } from './dataset-entry.ts';
import { datasetFieldsSchema } from './dataset-fields.ts';

const schema = z.strictObject({
  /** Name in errors, such as the file that the rows come from. Default `'dataset'`. */
  name: z.string().min(1).default('dataset'),
  /** Columns with other names than those recognised. Default `{}`. */
  fields: datasetFieldsSchema.prefault({}),
});

/** Options of {@link datasetOf}. */
export interface DatasetOfOptions extends z.input<typeof schema> {}

/**
 * A dataset of rows in memory, or of what an iterable gives anew each time it is iterated.
 *
 * @throws FormatError naming the row that is not an object, when it is read.
 */
export function datasetOf<Row extends object = DatasetRow>(
  rows: readonly Row[] | AsyncIterable<Row>,
  options: DatasetOfOptions = {},
): Dataset<Row> {
  const { name, fields } = parseOptions('datasetOf', schema, options, 'DatasetOfOptions');
  if (typeof rows !== 'object' || rows === null || !('length' in rows || Symbol.asyncIterator in rows)) {
    throw new ArgumentError(
      `datasetOf: expected a list of rows or an AsyncIterable of them, got ${typeof rows}; loadDataset reads files, datasetOfText texts`,
    );
  }
  const origin: DatasetOrigin = { name, unit: 'row', fields };
  const open = (skip: number) =>
    'length' in rows ? listBatches(rows, origin, skip) : one(rows, origin, skip);
  return new Dataset({ name, open, count: () => ('length' in rows ? rows.length : undefined) });
}

const batchRows = 1024;

async function* listBatches<Row>(
  rows: readonly Row[],
  origin: DatasetOrigin,
  skip: number,
): DatasetBatches<Row> {
  for (let start = skip; start < rows.length; start += batchRows) {
    yield rows
      .slice(start, start + batchRows)
      .map((row, at) => checkedEntry(row, { number: start + at + 1, at: start + at + 1, origin }));
  }
}

async function* one<Row>(rows: AsyncIterable<Row>, origin: DatasetOrigin, skip: number): DatasetBatches<Row> {
  let number = 0;
  for await (const row of rows) {
    number += 1;
    if (number > skip) yield [checkedEntry(row, { number, at: number, origin })];
  }
}

/** An entry whose row is an object. */
export function checkedEntry<Row>(
  row: Row,
  place: { readonly number: number; readonly at: number; readonly origin: DatasetOrigin },
): DatasetEntry<Row> {
  const entry = new DatasetEntry(row, place);
  if (isRecord(row)) return entry;
  throw new FormatError(
    `${entry.place}: expected an object with columns, got ${JSON.stringify(row)?.slice(0, 60)}; write one object per ${place.origin.unit}`,
  );
}

const textSchema = z.strictObject({
  /** Format of the text. Default `'jsonl'`. */
  format: z.enum(['jsonl', 'json', 'csv']).default('jsonl'),
  /** Name in errors. Default `'dataset'`. */
  name: z.string().min(1).default('dataset'),
  /** Columns with other names than those recognised. Default `{}`. */
  fields: datasetFieldsSchema.prefault({}),
});

/** Options of {@link datasetOfText}. */
export interface DatasetOfTextOptions extends z.input<typeof textSchema> {}

/**
 * A dataset of a text of JSON Lines, of a JSON list or of CSV. Runs anywhere. For files use `loadDataset`.
 *
 * @throws FormatError naming the first malformed line, when it is read.
 */
export function datasetOfText(text: string, options: DatasetOfTextOptions = {}): Dataset {
  requireArguments('datasetOfText', { text: 'text' }, text);
  const { format, name, fields } = parseOptions('datasetOfText', textSchema, options, 'DatasetOfTextOptions');
  const open = async function* (skip: number): DatasetBatches<DatasetRow> {
    let number = 0;
    const origin: DatasetOrigin = { name, unit: format === 'json' ? 'element' : 'line', fields };
    const entries: DatasetEntry<DatasetRow>[] = [];
    for (const { at, row } of rowsOf[format](text, name)) {
      number += 1;
      if (number > skip) entries.push(checkedEntry(row as DatasetRow, { number, at, origin }));
    }
    yield entries;
  };
  return new Dataset({ name, open });
}

interface TextRow {
  readonly at: number;
  readonly row: unknown;
}

const rowsOf: Readonly<
  Record<'jsonl' | 'json' | 'csv', (text: string, source: string) => Iterable<TextRow>>
> = {
  *jsonl(text, source) {
    for (const { number, value } of parseJsonLines(text, { source, expected: 'one JSON object per line' }))
      yield { at: number, row: value };
  },
  *csv(text, source) {
    for (const { number, record } of parseCsv(text, { source })) yield { at: number, row: record };
  },
  json(text, source) {
    const list = parsedList(text, source);
    return list.map((row, at) => ({ at: at + 1, row }));
  },
};

function parsedList(text: string, source: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch (cause) {
    throw new FormatError(`${source}: expected a JSON list of objects: ${String(cause)}`, { cause });
  }
  throw new FormatError(`${source}: expected a JSON list of objects, got another JSON value; write [ … ]`);
}
