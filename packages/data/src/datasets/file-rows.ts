import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { FormatError, messageOf, RlpError, rootCause } from '@rlp/core';
import { ByteLines, decodedLines } from '../lines/byte-lines.ts';
import { LineParser } from '../lines/json-lines.ts';
import { CsvReader } from '../tables/parse-csv.ts';
import { countParquetRows, parquetBatches } from '../tables/read-parquet-file.ts';
import type { DatasetRow } from './dataset.ts';
import type { DatasetBatches, DatasetEntry } from './dataset-entry.ts';
import type { DatasetFields } from './dataset-fields.ts';
import { checkedEntry } from './dataset-of.ts';
import { JsonElements } from './json-elements.ts';

/** Formats of files of rows. */
type FileFormat = 'jsonl' | 'json' | 'csv' | 'parquet' | 'text';

/** One file of a dataset. */
export interface RowsFile {
  readonly path: string;
  readonly fields?: DatasetFields | undefined;
  /** What is done about a last line of JSON Lines that is cut short. */
  readonly tornLine: 'throw' | 'skip';
  /** Receives the error of a row, which is left out. Default: it is thrown. */
  readonly onMalformed?: ((error: FormatError) => void) | undefined;
}

/** What a file is, by its first bytes and its name. */
interface FileKind {
  readonly format: FileFormat;
  readonly compression: 'none' | 'gzip' | 'zstd';
}

async function kindOf(path: string): Promise<FileKind> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const magic = buffer.subarray(0, bytesRead).toString('latin1');
    const compression = magic.startsWith('\u001f\u008b')
      ? 'gzip'
      : magic === '\u0028\u00b5\u002f\u00fd'
        ? 'zstd'
        : 'none';
    const name = path.replace(/\.(gz|zst)$/i, '');
    if (magic === 'PAR1' || /\.parquet$/i.test(name)) return { format: 'parquet', compression };
    if (/\.[ct]sv$/i.test(name)) return { format: 'csv', compression };
    if (/\.txt$/i.test(name)) return { format: 'text', compression };
    return { format: (await beginsWithList(path, compression)) ? 'json' : 'jsonl', compression };
  } finally {
    await file.close();
  }
}

async function beginsWithList(path: string, compression: FileKind['compression']): Promise<boolean> {
  for await (const chunk of chunksOf(path, compression)) {
    const first = /[^\s\ufeff]/.exec(Buffer.from(chunk).toString('utf8'));
    if (first !== null) return first[0] === '[';
  }
  return false;
}

type Unpacker = () => Transform;

/** Chunks of a file, unpacked. */
async function* chunksOf(
  path: string,
  compression: FileKind['compression'],
): AsyncGenerator<Uint8Array, void, undefined> {
  const file = createReadStream(path, { highWaterMark: 262_144 });
  if (compression === 'none') {
    yield* file as AsyncIterable<Uint8Array>;
    return;
  }
  const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: Unpacker };
  const unpack = compression === 'gzip' ? zlib.createGunzip : createZstdDecompress;
  if (unpack === undefined) {
    throw new RlpError(`${path}: Zstandard needs Node 22.15; use a newer Node, or compress the file by gzip`);
  }
  const unpacked = pipeline(file, unpack({ chunkSize: 262_144 } as never), () => undefined);
  try {
    yield* unpacked as AsyncIterable<Uint8Array>;
  } catch (cause) {
    // Zstandard's codes begin with `ZSTD_error_`.
    if (!/^Z(STD)?_/.test(String((cause as NodeJS.ErrnoException).code))) throw cause;
    throw new FormatError(
      `${path}: expected a complete ${compression} file: ${messageOf(cause)}; download or compress it again`,
      { cause },
    );
  } finally {
    file.destroy();
  }
}

/** Rows of a file after the first `skip`. */
export async function* fileBatches(
  { path, fields, tornLine, onMalformed }: RowsFile,
  skip: number,
): DatasetBatches<DatasetRow> {
  const { format, compression } = await kindOf(path);
  const unit = format === 'parquet' ? 'row' : format === 'json' ? 'element' : 'line';
  const origin = { name: path, unit, fields } as const;
  if (format === 'parquet') {
    for await (const rows of parquetBatches(path, { skip })) {
      yield rows.map(({ number, value }) => checkedEntry(value, { number, at: number, origin }));
    }
    return;
  }
  let number = 0;
  const entryOf = ({ number: at, value }: Placed): DatasetEntry<DatasetRow> =>
    checkedEntry(value as DatasetRow, { number: ++number, at, origin });
  const readable = (row: Placed): DatasetEntry<DatasetRow>[] => {
    try {
      if (row !== leftOut) return [entryOf(row)];
      number += 1;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      onMalformed!(error);
    }
    return [];
  };
  const reading = { source: path, tornLine, onMalformed };
  if (onMalformed !== undefined) {
    // Only rows that can be read are skipped, so all are read.
    let left = skip;
    for await (const rows of rowsOf[format](chunksOf(path, compression), { ...reading, skip: 0 })) {
      const entries = rows.flatMap(readable);
      const from = Math.min(entries.length, left);
      left -= from;
      yield from === 0 ? entries : entries.slice(from);
    }
    return;
  }
  for await (const rows of rowsOf[format](chunksOf(path, compression), { ...reading, skip })) {
    const from = Math.min(rows.length, Math.max(0, skip - number));
    number += from;
    yield (from === 0 ? rows : rows.slice(from)).map(entryOf);
  }
}

/** Number of rows of a file. Reads lines without parsing them. */
export async function countFileRows(file: RowsFile): Promise<number> {
  const { format, compression } = await kindOf(file.path);
  if (format === 'parquet') return countParquetRows(file.path);
  const all = { source: file.path, tornLine: file.tornLine, skip: Number.POSITIVE_INFINITY };
  let count = 0;
  for await (const rows of rowsOf[format](chunksOf(file.path, compression), all)) count += rows.length;
  return count;
}

/** A value with its line or element. */
interface Placed {
  readonly number: number;
  readonly value: unknown;
}

type ReadRows = (
  chunks: AsyncIterable<Uint8Array>,
  place: Pick<RowsFile, 'tornLine' | 'onMalformed'> & { readonly source: string; readonly skip: number },
) => AsyncIterable<readonly Placed[]>;

const skipped = { number: 0, value: undefined };
/** A line whose error was reported. */
const leftOut: Placed = { number: 0, value: undefined };
const maxLineBytes = 2 ** 28;

/** Readers by format. The first `skip` rows need not be parsed, so their values may be missing. */
const rowsOf: Readonly<Record<Exclude<FileFormat, 'parquet'>, ReadRows>> = {
  async *jsonl(chunks, { source, tornLine, onMalformed, skip }) {
    const expected = 'one JSON object per line';
    let reported = 0;
    // The first line of a file named `.json` may be the beginning of an object over several lines.
    let mayBeObject = /\.json(\.gz|\.zst)?$/i.test(source);
    let line: string | undefined;
    const report = (error: FormatError) => {
      if (onMalformed === undefined) {
        throw mayBeObject && isUnfinished(line, error) ? neitherListNorLines(source, error) : error;
      }
      reported += 1;
      onMalformed(error);
    };
    const parser = new LineParser<unknown>('loadDataset', {
      ...{ source, expected, tornLine },
      onMalformed: report,
    });
    let count = 0;
    const parse = (text: string | undefined, isEnded: boolean): Placed | undefined => {
      // Only parsing tells whether a last line is cut short and thus no row.
      if (count >= skip || (!isEnded && tornLine === 'skip')) {
        const before = reported;
        line = text;
        const row = text === undefined ? parser.undecodable(isEnded) : parser.parse(text, isEnded);
        if (row !== undefined) mayBeObject = false;
        return reported > before ? leftOut : row;
      }
      if (!parser.skip(text)) return undefined;
      mayBeObject = false;
      count += 1;
      return skipped;
    };
    for await (const { lines, isLast } of linesOf(chunks, source)) {
      // A loop, because `flatMap` made a quarter of the reader's work with short lines.
      const rows: Placed[] = [];
      for (const line of lines) {
        const row = parse(line, !isLast);
        if (row !== undefined) rows.push(row);
      }
      yield rows;
    }
  },

  async *text(chunks, { source }) {
    let at = 0;
    for await (const { lines } of linesOf(chunks, source)) {
      yield lines.flatMap((line) => {
        at += 1;
        if (line === undefined) {
          throw new FormatError(`${source}, line ${at}: expected UTF-8 text; save the file as UTF-8`);
        }
        return line.trim() === '' ? [] : [{ number: at, value: { text: line.replace(/\r$/, '') } }];
      });
    }
  },

  async *json(chunks, { source, skip }) {
    const list = new JsonElements(source);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let at = 0;
    const parse = (element: Uint8Array): Placed => {
      at += 1;
      if (at <= skip) return skipped;
      try {
        return { number: at, value: JSON.parse(decoder.decode(element)) };
      } catch (cause) {
        throw new FormatError(
          `${source}, element ${at}: expected a JSON object: ${messageOf(cause)}; correct the element`,
          { cause },
        );
      }
    };
    for await (const chunk of chunks) yield list.push(chunk).map(parse);
    list.end();
  },

  async *csv(chunks, { source }) {
    const reader = new CsvReader(source);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const decoded = (chunk?: Uint8Array) => {
      try {
        return decoder.decode(chunk, { stream: chunk !== undefined });
      } catch (cause) {
        throw new FormatError(`${source}: expected UTF-8 text, got other bytes; save the file as UTF-8`, {
          cause,
        });
      }
    };
    const placed = (text: string, order: 'more' | 'last') =>
      Array.from(reader.read(text, order), ({ number, record }) => ({ number, value: record }));
    for await (const chunk of chunks) yield placed(decoded(chunk), 'more');
    yield placed(decoded(), 'last');
  },
};

/** Whether the text is JSON up to its end, where more is missing. */
function isUnfinished(text: string | undefined, error: FormatError): boolean {
  const problem = messageOf(rootCause(error));
  const position = /at position (\d+)/.exec(problem)?.[1];
  return problem.includes('end of JSON') || Number(position) === text?.trim().length;
}

/** A file named `.json` whose first object does not end on its line. */
function neitherListNorLines(source: string, cause: FormatError): FormatError {
  return new FormatError(
    `${source}: expected a JSON list of rows, or one JSON object per line, got an object that its line does not complete: ` +
      `${messageOf(rootCause(cause))}; write or download it again if it is cut short, else write the list of its rows`,
    { cause },
  );
}

interface Lines {
  readonly lines: readonly (string | undefined)[];
  /** Whether they are the rest after the last line break. */
  readonly isLast: boolean;
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>, source: string): AsyncGenerator<Lines> {
  const bytes = new ByteLines(maxLineBytes);
  const decoded = (whole: Uint8Array | 'too-long'): readonly (string | undefined)[] => {
    if (whole !== 'too-long') return decodedLines(whole);
    throw new FormatError(
      `${source}: expected lines of at most 256 MiB, got a longer one; is it one record per line?`,
    );
  };
  for await (const chunk of chunks) {
    const whole = bytes.push(chunk);
    if (whole !== undefined) yield { lines: decoded(whole), isLast: false };
  }
  const rest = bytes.rest();
  if (rest.length > 0) yield { lines: decoded(rest), isLast: true };
}
