import * as zlib from 'node:zlib';
import { FormatError, importPeer, messageOf, requireArguments } from '@rlp/core';
import type { Compressors, SchemaTree } from 'hyparquet';

/** A row of a Parquet file. */
export interface ParquetRow {
  /** Row number, from 1. */
  readonly number: number;
  /** Values by column, as JSON has them. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** Options of {@link readParquetFile}. */
export interface ParquetOptions {
  /** Columns to read. Default: all. */
  readonly columns?: readonly string[] | undefined;
}

type Decompress = (input: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

/** Snappy comes with hyparquet. Zstandard comes with Node from 22.15 on. */
const compressors: Compressors = Object.fromEntries(
  Object.entries({
    GZIP: zlib.gunzipSync,
    BROTLI: zlib.brotliDecompressSync,
    ZSTD: (zlib as { readonly zstdDecompressSync?: Decompress }).zstdDecompressSync,
  }).flatMap(([codec, decompress]: [string, Decompress | undefined]) =>
    decompress === undefined
      ? []
      : [[codec, (input: Uint8Array, size: number) => decompress(input, { maxOutputLength: size })]],
  ),
);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a Parquet file, one row group at a time. Needs the package `hyparquet`.
 *
 * Whole numbers become numbers, or text beyond 2⁵³. Dates become ISO text. In columns that do not say what their bytes are, bytes
 * of variable length become text if they are UTF-8, else base64. Bytes of a fixed length become base64.
 *
 * @throws MissingPeerError if `hyparquet` is not installed.
 * @throws FormatError naming the file, if it is not a readable Parquet file.
 */
export async function* readParquetFile(
  path: string,
  options: ParquetOptions = {},
): AsyncGenerator<ParquetRow, void, undefined> {
  requireArguments('readParquetFile', { path: 'text', options: 'object?' }, path, options);
  for await (const rows of parquetBatches(path, options)) yield* rows;
}

/** Rows after the first `skip`, a row group at a time. */
export async function* parquetBatches(
  path: string,
  { columns, skip = 0 }: ParquetOptions & { readonly skip?: number },
): AsyncGenerator<readonly ParquetRow[], void, undefined> {
  const { parquet, file, metadata } = await opened(path);
  const tree = parquet.parquetSchema(metadata);
  const fixed = new Set(tree.children.filter(holdsFixedBytes).map(({ element }) => element.name));
  const rowOf = (row: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        jsonValue(value, fixed.has(name) ? base64 : textOrBase64),
      ]),
    );
  let end = 0;
  for (const { num_rows: rows } of metadata.row_groups) {
    const rowStart = Math.max(end, skip);
    end += Number(rows);
    if (rowStart >= end) continue;
    const range = { rowStart, rowEnd: end };
    const options = {
      ...{ file, metadata, compressors, utf8: false, ...range },
      ...(columns && { columns: [...columns] }),
    };
    const read = await reading(path, () => parquet.parquetReadObjects(options));
    yield read.map((row, at) => ({ number: rowStart + at + 1, value: rowOf(row) }));
  }
}

/** Number of rows, from the end of the file. */
export async function countParquetRows(path: string): Promise<number> {
  return Number((await opened(path)).metadata.num_rows);
}

async function opened(path: string) {
  const parquet = await importPeer('reading Parquet', 'hyparquet', () => import('hyparquet'));
  const file = await parquet.asyncBufferFromFile(path);
  return { parquet, file, metadata: await reading(path, () => parquet.parquetMetadataAsync(file)) };
}

async function reading<Value>(path: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    const message = messageOf(cause);
    const remedy = /ZSTD/.test(message)
      ? 'use Node 22.15 or later, or write the file with another compression'
      : 'download or write the file again';
    throw new FormatError(`${path}: expected a Parquet file: ${message}; ${remedy}`, { cause });
  }
}

type ReadBytes = (bytes: Uint8Array) => string;

const base64: ReadBytes = (bytes) => Buffer.from(bytes).toString('base64');

const textOrBase64: ReadBytes = (bytes) => {
  try {
    return utf8.decode(bytes);
  } catch {
    return base64(bytes);
  }
};

const holdsFixedBytes = ({ element, children }: SchemaTree): boolean =>
  element.type === 'FIXED_LEN_BYTE_ARRAY' || children.some(holdsFixedBytes);

function jsonValue(value: unknown, read: ReadBytes): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return read(value);
  const inner = (one: unknown) => jsonValue(one, read);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>, inner);
  if (Array.isArray(value)) return value.map(inner);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inner(one)]));
}
