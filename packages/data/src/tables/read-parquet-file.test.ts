import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { FormatError } from '@rlp/core';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, it } from 'vitest';
import { countParquetRows, type ParquetRow, parquetBatches, readParquetFile } from './read-parquet-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'rlp-parquet-'));
afterAll(() => rmSync(directory, { recursive: true }));
const saved = (name: string, bytes: Uint8Array | ArrayBuffer) => {
  const path = join(directory, name);
  writeFileSync(path, new Uint8Array(bytes));
  return path;
};
async function all(rows: AsyncIterable<ParquetRow>): Promise<ParquetRow[]> {
  const gathered: ParquetRow[] = [];
  for await (const row of rows) gathered.push(row);
  return gathered;
}
const columns = (rows: number) => [
  { name: 'text', data: Array.from({ length: rows }, (_, at) => `answer ${at} ☃`) },
  { name: 'score', data: Array.from({ length: rows }, (_, at) => (at % 3 === 0 ? null : at / 2)) },
  { name: 'count', data: Array.from({ length: rows }, (_, at) => BigInt(at)), type: 'INT64' as const },
  {
    name: 'parts',
    data: Array.from({ length: rows }, (_, at) => ({ tags: ['a', `${at}`] })),
    type: 'JSON' as const,
  },
  { name: 'at', data: Array.from({ length: rows }, () => new Date(0)), type: 'TIMESTAMP' as const },
];

it('reads rows of several groups as JSON values, or only some columns', async () => {
  const path = saved('rows.parquet', parquetWriteBuffer({ columnData: columns(250), rowGroupSize: 100 }));
  const rows = await all(readParquetFile(path));
  expect(rows.length).toBe(250);
  expect(rows[101]).toEqual({
    number: 102,
    value: {
      text: 'answer 101 ☃',
      score: 50.5,
      count: 101,
      parts: { tags: ['a', '101'] },
      at: '1970-01-01T00:00:00.000Z',
    },
  });
  const some = await all(readParquetFile(path, { columns: ['score'] }));
  expect(some[0]).toEqual({ number: 1, value: { score: null } });
});

it('writes bytes as base64', async () => {
  const schema = [
    { name: 'root', num_children: 1 },
    { name: 'digest', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 3, repetition_type: 'REQUIRED' },
  ] as const;
  const data = [Uint8Array.of(0, 255, 128), Uint8Array.of(7, 7, 7)];
  const bytes = parquetWriteBuffer({ columnData: [{ name: 'digest', data }], schema: [...schema] });
  const rows = await all(readParquetFile(saved('bytes.parquet', bytes)));
  expect(rows.map(({ value }) => value.digest)).toEqual(['AP+A', 'BwcH']);
});

it('reads bytes as text if their column says so or they are UTF-8, and replaces wrong bytes only in text', async () => {
  const schema = [
    { name: 'root', num_children: 2 },
    { name: 'plain', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
    { name: 'said', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  ] as const;
  const data = [new TextEncoder().encode('☃\u001b'), Uint8Array.of(0xff, 0xd8, 0), null];
  const columnData = [
    { name: 'plain', data },
    { name: 'said', data: [new TextEncoder().encode('a☃'), null, Uint8Array.of(0x61, 0xe9)] },
  ];
  const path = saved('plain.parquet', parquetWriteBuffer({ columnData, schema: [...schema] }));
  const rows = await all(readParquetFile(path));
  expect(rows.map(({ value }) => value)).toEqual([
    { plain: '☃\u001b', said: 'a☃' },
    { plain: '/9gA', said: null },
    { plain: null, said: 'a\ufffd' },
  ]);
});

it('reads numbers that JSON cannot hold as text, and dates that are none as null', async () => {
  // Milliseconds that a file can hold, and a date cannot.
  const beyond = 9n * 10n ** 15n;
  const columnData = [
    { name: 'large', data: [2n ** 53n, -(2n ** 53n) + 1n, 2n ** 53n - 1n], type: 'INT64' as const },
    { name: 'at', data: [beyond, new Date(1), new Date(0)], type: 'TIMESTAMP' as const },
  ];
  const [first, second, third] = await all(
    readParquetFile(saved('large.parquet', parquetWriteBuffer({ columnData }))),
  );
  expect([first, second, third].map((row) => row!.value.large)).toEqual([
    '9007199254740992',
    -9007199254740991,
    9007199254740991,
  ]);
  expect(first!.value.at).toBeNull();
  expect(second!.value.at).toBe('1970-01-01T00:00:00.001Z');
});

it('reads the rows behind the first ones, from every group', async () => {
  const path = saved('groups.parquet', parquetWriteBuffer({ columnData: columns(10), rowGroupSize: 4 }));
  expect(await countParquetRows(path)).toBe(10);
  for (const skip of [0, 3, 4, 5, 9, 10, 11]) {
    const numbers: number[] = [];
    for await (const batch of parquetBatches(path, { columns: ['count'], skip })) {
      expect(batch.length).toBeGreaterThan(0);
      for (const { number, value } of batch) {
        expect(value).toEqual({ count: number - 1 });
        numbers.push(number);
      }
    }
    expect(numbers).toEqual(Array.from({ length: Math.max(0, 10 - skip) }, (_, at) => skip + at + 1));
  }
});

it('reads compressed pages', async () => {
  const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(zlib.gzipSync(bytes)) };
  const bytes = parquetWriteBuffer({ columnData: columns(20), codec: 'GZIP', compressors });
  const rows = await all(readParquetFile(saved('gzip.parquet', bytes)));
  expect(rows.at(-1)).toMatchObject({ number: 20, value: { text: 'answer 19 ☃' } });
});

it.skipIf('zstdDecompressSync' in zlib)('says which Node reads Zstandard', async () => {
  const compressors = { ZSTD: (bytes: Uint8Array) => bytes };
  const bytes = parquetWriteBuffer({ columnData: columns(20), codec: 'ZSTD', compressors });
  await expect(all(readParquetFile(saved('zstd.parquet', bytes)))).rejects.toThrow(
    /ZSTD.*; use Node 22.15 or later, or write the file with another compression$/,
  );
});

it('names the file that it cannot read', async () => {
  const whole = new Uint8Array(parquetWriteBuffer({ columnData: columns(20) }));
  for (const bytes of [new Uint8Array(), whole.subarray(0, 400), new TextEncoder().encode('{"a":1}\n')]) {
    const path = saved('broken.parquet', bytes);
    await expect(all(readParquetFile(path))).rejects.toThrow(FormatError);
    await expect(all(readParquetFile(path))).rejects.toThrow(
      new RegExp(`^${path}: expected a Parquet file: .*; download or write the file again$`),
    );
  }
  await expect(all(readParquetFile(join(directory, 'none')))).rejects.toThrow('ENOENT');
});
