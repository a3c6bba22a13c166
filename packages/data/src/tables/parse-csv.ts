import { FormatError, plural, requireArguments } from '@rlp/core';

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

/**
 * Reads separated values with a header line. Commas, semicolons or tabs separate, whichever the header has most of. Quoted fields
 * may hold separators, line breaks and doubled quotes. Blank lines and a byte order mark are skipped.
 *
 * @throws FormatError naming source and line, for a quote that does not fit or a record with another number of fields.
 * @see RFC 4180
 */
export function* parseCsv(text: string, options: CsvOptions = {}): Generator<CsvRecord> {
  requireArguments('parseCsv', { text: 'text', options: 'object?' }, text, options);
  const { source = 'CSV' } = options;
  yield* new CsvReader(source).read(text, 'last');
}

interface Row {
  readonly number: number;
  readonly fields: readonly string[];
}

/** Longest record, in characters. Half of what a string can hold. */
const longestRecord = 2 ** 28;

/** Reads CSV in pieces. Memory holds one piece and one record. */
export class CsvReader {
  readonly #source: string;
  readonly #maxRecord: number;
  #text = '';
  #names: readonly string[] | undefined;
  #separator: string | undefined;
  #line = 1;
  /** Length of the rest at which to look for its end again. It doubles up to the limit, so that a long field is not read too often. */
  #again = 0;

  constructor(source: string, maxRecord = longestRecord) {
    this.#source = source;
    this.#maxRecord = maxRecord;
  }

  /** Records that end in this piece. */
  *read(piece: string, order: 'more' | 'last'): Generator<CsvRecord> {
    this.#text += this.#line === 1 && this.#text === '' ? piece.replace(/^\ufeff/, '') : piece;
    if (order === 'more' && this.#text.length < this.#again) return;
    for (const row of this.#rows(order)) {
      const record = this.#record(row);
      if (record !== undefined) yield record;
    }
    this.#again = Math.min(2 * this.#text.length, this.#maxRecord + 1);
    if (this.#text.length > this.#maxRecord)
      this.#fail(`a record of at most ${this.#maxRecord} characters; close the quote that is open`);
  }

  *#rows(order: 'more' | 'last'): Generator<Row> {
    if (this.#separator === undefined && order === 'more' && !/[\r\n]/.test(this.#text)) return;
    this.#separator ??= separatorOf(this.#text);
    const plain = new RegExp(`[^${this.#separator}\r\n]*`, 'y');
    const text = this.#text;
    let start = 0;
    let [at, line, fields]: [number, number, string[]] = [0, this.#line, []];
    while (at < text.length || fields.length > 0) {
      const end = text[at] === '"' ? endOfQuoted(text, at) : endOfPlain(plain, text, at);
      // What ends with the piece may go on in the next one. That includes a line break of two characters.
      if (order === 'more' && (end < 0 || end + 1 >= text.length)) break;
      const isEnded = end >= text.length || text[end] === this.#separator || /[\r\n]/.test(text[end]!);
      if (end < 0 || !isEnded) {
        this.#line = line;
        this.#fail(
          'a quoted field to end with a quote and a separator or line break; write quotes inside of it twice',
        );
      }
      const field = text.slice(at, end);
      fields.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
      line += field.split(lineBreak).length - 1;
      at = end + 1;
      if (text[end] === this.#separator) continue;
      if (text[end] === '\r' && text[at] === '\n') at += 1;
      if (fields.length > 1 || fields[0] !== '') yield { number: this.#line, fields };
      line += 1;
      [start, this.#line, fields] = [at, line, []];
    }
    this.#text = text.slice(start);
  }

  #record({ number, fields }: Row): CsvRecord | undefined {
    const names = this.#names;
    if (names === undefined) {
      this.#names = fields.map((name) => name.trim());
      const twice = this.#names.find((name, at) => this.#names?.indexOf(name) !== at);
      if (twice === undefined) return undefined;
      throw new FormatError(
        `${this.#source}: expected different column names, got ${JSON.stringify(twice)} twice`,
      );
    }
    if (fields.length === names.length) {
      return { number, record: Object.fromEntries(names.map((name, at) => [name, fields[at]!])) };
    }
    throw new FormatError(
      `${this.#source}, line ${number}: expected ${plural(names.length, 'field')} as in the header, got ${fields.length}; quote fields that hold separators or line breaks`,
    );
  }

  #fail(expected: string): never {
    throw new FormatError(`${this.#source}, line ${this.#line}: expected ${expected}`);
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
