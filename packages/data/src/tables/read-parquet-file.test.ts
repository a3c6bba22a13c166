import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, it } from 'vitest';
import { type ParquetRow, readParquetFile } from './read-parquet-file.ts';

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

it('reads compressed pages', async () => {
  const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)) };
  const bytes = parquetWriteBuffer({ columnData: columns(20), codec: 'GZIP', compressors });
  const rows = await all(readParquetFile(saved('gzip.parquet', bytes)));
  expect(rows.at(-1)).toMatchObject({ number: 20, value: { text: 'answer 19 ☃' } });
});

it('names the file that it cannot read', async () => {
  const whole = new Uint8Array(parquetWriteBuffer({ columnData: columns(20) }));
  for (const bytes of [new Uint8Array(), whole.subarray(0, 400), new TextEncoder().encode('{"a":1}\n')]) {
    const path = saved('broken.parquet', bytes);
    await expect(all(readParquetFile(path))).rejects.toThrow(`${path}: expected a Parquet file`);
  }
  await expect(all(readParquetFile(join(directory, 'none')))).rejects.toThrow('ENOENT');
});
