import { FormatError } from '@rlp/core';

/** A record of a CSV text, by column. */
export interface CsvRecord {
  /** Line in which the record begins, from 1. */
  readonly number: number;
  readonly record: Readonly<Record<string, string>>;
}

/** Options of {@link parseCsv}. */
export interface CsvOptions {
  /** Name of the text in errors, such as its file. Default `'CSV'`. */
  readonly source?: string | undefined;
}

const separators = [',', ';', '\t'] as const;

interface Row {
  readonly number: number;
  readonly fields: readonly string[];
}

/**
 * Reads separated values with a header line. Commas, semicolons or tabs separate, whichever the header has most of. Quoted fields
 * may hold separators, line breaks and doubled quotes. Blank lines and a byte order mark are skipped.
 *
 * @throws `FormatError` naming source and line, for a quote that does not fit or a record with another number of fields.
 * @see RFC 4180
 */
export function* parseCsv(text: string, { source = 'CSV' }: CsvOptions = {}): Generator<CsvRecord> {
  let names: readonly string[] | undefined;
  for (const { number, fields } of rowsOf(text.replace(/^\ufeff/, ''), source)) {
    if (names === undefined) {
      names = fields.map((name) => name.trim());
      const twice = names.find((name, at) => names?.indexOf(name) !== at);
      if (twice === undefined) continue;
      throw new FormatError(`${source}: expected different column names, got ${JSON.stringify(twice)} twice`);
    }
    if (fields.length !== names.length) {
      throw new FormatError(
        `${source}, line ${number}: expected ${names.length} fields as in the header, got ${fields.length}; quote fields that hold separators or line breaks`,
      );
    }
    yield { number, record: Object.fromEntries(names.map((name, at) => [name, fields[at]!])) };
  }
}

function* rowsOf(text: string, source: string): Generator<Row> {
  const separator = separatorOf(text);
  const plain = new RegExp(`[^${separator}\r\n]*`, 'y');
  let [at, line, first, fields]: [number, number, number, string[]] = [0, 1, 1, []];
  while (at < text.length || fields.length > 0) {
    const end = text[at] === '"' ? endOfQuoted(text, at) : endOfPlain(plain, text, at);
    const isEnded = end >= text.length || text[end] === separator || /[\r\n]/.test(text[end]!);
    if (end < 0 || !isEnded) {
      throw new FormatError(
        `${source}, line ${line}: expected a quoted field to end with a quote and a separator or line break; write quotes inside of it twice`,
      );
    }
    const field = text.slice(at, end);
    fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    line += field.split(lineBreak).length - 1;
    at = end + 1;
    if (text[end] === separator) continue;
    if (text[end] === '\r' && text[at] === '\n') at += 1;
    if (fields.length > 1 || fields[0] !== '') yield { number: first, fields };
    line += 1;
    [first, fields] = [line, []];
  }
}

const lineBreak = /\r\n|\r|\n/;

function endOfPlain(plain: RegExp, text: string, from: number): number {
  plain.lastIndex = from;
  plain.exec(text);
  return plain.lastIndex;
}

/** −1 if the quote is not closed. */
function endOfQuoted(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at + 1;
  }
  return -1;
}

/** The separator that the header has most of. */
function separatorOf(text: string): string {
  const header = text.slice(0, text.search(/[\r\n]|$/)).replaceAll(/"[^"]*"/g, '');
  const times = separators.map((separator) => header.split(separator).length);
  return separators[times.indexOf(Math.max(...times))]!;
}
