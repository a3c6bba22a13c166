import * as zlib from 'node:zlib';
import { FormatError, importPeer, messageOf } from '@rlp/core';
import type { Compressors } from 'hyparquet';

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

/**
 * Reads a Parquet file, one row group at a time. Needs the package `hyparquet`.
 *
 * Whole numbers become numbers, or text beyond 2⁵³. Dates become ISO text, and bytes that are not text base64.
 *
 * @throws `MissingPeerError` if `hyparquet` is not installed.
 * @throws `FormatError` naming the file, if it is not a readable Parquet file.
 */
export async function* readParquetFile(
  path: string,
  { columns }: ParquetOptions = {},
): AsyncGenerator<ParquetRow, void, undefined> {
  const parquet = await importPeer('readParquetFile', 'hyparquet', () => import('hyparquet'));
  const file = await parquet.asyncBufferFromFile(path);
  const read = async <Value>(reading: () => Promise<Value>): Promise<Value> => {
    try {
      return await reading();
    } catch (cause) {
      const zstd = 'zstdDecompressSync' in zlib ? '' : ' (Zstandard needs Node 22.15)';
      throw new FormatError(
        `${path}: expected a Parquet file${zstd}: ${messageOf(cause)}; write the file again`,
        { cause },
      );
    }
  };
  const metadata = await read(() => parquet.parquetMetadataAsync(file));
  let number = 0;
  for (const { num_rows: rows } of metadata.row_groups) {
    const range = { rowStart: number, rowEnd: number + Number(rows) };
    const options = { file, metadata, compressors, ...range, ...(columns && { columns: [...columns] }) };
    for (const row of await read(() => parquet.parquetReadObjects(options))) {
      number += 1;
      yield { number, value: jsonValue(row) as ParquetRow['value'] };
    }
  }
}

function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>, jsonValue);
  if (Array.isArray(value)) return value.map(jsonValue);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, jsonValue(one)]));
}
