import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { FormatError, type HostTensor } from '@rlp/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseSafetensorsHeader } from './header.ts';
import { openSafetensors, readSafetensors } from './read.ts';
import { writeSafetensors } from './write.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rlp-safetensors-'));
});
afterAll(() => rm(folder, { recursive: true }));

const tensors = new Map<string, HostTensor>([
  ['b.weight', { shape: [2, 3], data: Float32Array.of(1, -2, 3.5, 0, 1e-3, -0.25) }],
  ['a', { shape: [], data: Float32Array.of(7) }],
  ['empty', { shape: [0, 4], data: new Float32Array(0) }],
]);

/** A file with this JSON header and `dataBytes` zero bytes after it. */
function bytesOf(header: string, dataBytes = 0): Uint8Array {
  const json = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + json.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  return bytes;
}

async function fileWith(bytes: Uint8Array): Promise<string> {
  const file = join(folder, 'bad.safetensors');
  await writeFile(file, bytes);
  return file;
}

describe('writing and reading', () => {
  it.each(['F32', 'F16', 'BF16'] as const)(
    'gives %s tensors back, in files that begin their data at 8 bytes',
    async (dtype) => {
      const file = join(folder, `${dtype}.safetensors`);
      expect(await writeSafetensors(file, tensors, { dtype })).toEqual([file]);
      const opened = await openSafetensors(file);
      expect(opened.metadata).toEqual({ format: 'pt' });
      expect(Math.min(...[...opened.tensors.values()].map((tensor) => tensor.offset)) % 8).toBe(0);
      const read = await readSafetensors(file);
      expect(read.get('b.weight')!.shape).toEqual([2, 3]);
      expect(read.get('a')!.data).toEqual(tensors.get('a')!.data);
      expect(read.get('empty')!.shape).toEqual([0, 4]);
      for (const [i, value] of tensors.get('b.weight')!.data.entries()) {
        expect(read.get('b.weight')!.data[i]).toBeCloseTo(value, dtype === 'F32' ? 9 : 4);
      }
    },
  );

  it('says where each tensor lies in the file', async () => {
    const file = join(folder, 'where.safetensors');
    await writeSafetensors(file, tensors);
    const { offset, length } = (await openSafetensors(file)).tensors.get('b.weight')!;
    const bytes = (await readFile(file)).subarray(offset, offset + length);
    expect([...new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + length))]).toEqual([
      ...tensors.get('b.weight')!.data,
    ]);
  });

  it('shards above the size asked for, writes the index that transformers reads, and reads both back', async () => {
    const shards = await mkdtemp(join(folder, 'shards-'));
    const files = await writeSafetensors(join(shards, 'model.safetensors'), tensors, { maxShardBytes: 24 });
    expect(files.map((file) => file.slice(shards.length + 1))).toEqual([
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
    ]);
    const index = JSON.parse(await readFile(files[2]!, 'utf8'));
    expect(index.metadata.total_size).toBe(28);
    expect(index.weight_map['b.weight']).toBe('model-00002-of-00002.safetensors');
    expect(await readSafetensors(shards)).toEqual(new Map([...tensors].sort()));
    expect((await readdir(shards)).every((name) => !name.endsWith('.tmp'))).toBe(true);
  });

  it('writes one of several that are written to one path at once', async () => {
    const file = join(folder, 'contended.safetensors');
    const filled = (x: number) => new Map([['x', { shape: [5000], data: new Float32Array(5000).fill(x) }]]);
    await Promise.all([1, 2, 3].map((x) => writeSafetensors(file, filled(x))));
    const { data } = (await readSafetensors(file)).get('x')!;
    expect(new Set(data).size).toBe(1);
  });

  it('mixes no shards of several that are written to one path at once', async () => {
    const folderOfAll = await mkdtemp(join(folder, 'contended-'));
    const path = join(folderOfAll, 'model.safetensors');
    const filled = (x: number) =>
      new Map(['a', 'b', 'c'].map((name) => [name, { shape: [500], data: new Float32Array(500).fill(x) }]));
    for (let round = 0; round < 3; round++) {
      await Promise.all([1, 2, 3].map((x) => writeSafetensors(path, filled(x), { maxShardBytes: 2000 })));
      const values = [...(await readSafetensors(folderOfAll)).values()].flatMap(({ data }) => [...data]);
      expect(new Set(values).size).toBe(1);
    }
  });

  it('leaves no file behind when writing fails', async () => {
    const target = await mkdtemp(join(folder, 'failed-'));
    const wrong = new Map([['x', { shape: [2], data: new Float32Array(3) }]]);
    const path = join(target, 'x.safetensors');
    await expect(writeSafetensors(path, wrong)).rejects.toThrow('x has shape [2] but 3');
    const negative = new Map([['x', { shape: [-1, -3], data: new Float32Array(3) }]]);
    await expect(writeSafetensors(path, negative)).rejects.toThrow('x has shape [-1,-3] but 3');
    const reserved = new Map([['__metadata__', { shape: [1], data: new Float32Array(1) }]]);
    await expect(writeSafetensors(path, reserved)).rejects.toThrow('keeps the name __metadata__');
    expect(await readdir(target)).toEqual([]);
  });

  it('keeps names that JavaScript objects treat specially', async () => {
    const file = join(folder, 'names.safetensors');
    const odd = new Map([['__proto__', { shape: [1], data: Float32Array.of(5) }]]);
    await writeSafetensors(file, odd);
    expect((await readSafetensors(file)).get('__proto__')!.data[0]).toBe(5);
  });
});

describe('malformed files', () => {
  const entry = (shape: string, offsets: string, dtype = 'F32') =>
    `{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}`;

  it.each([
    ['fewer than 8 bytes', Uint8Array.of(1, 2, 3), 'header length: expected 8 bytes, the file has 3'],
    ['a header longer than the file', bytesOf('{}').fill(9, 0, 1), 'exceeds the 2 bytes that follow it'],
    ['a header above the limit', bytesOf('{}').fill(9, 3, 4), 'above the limit of 100000000'],
    ['a header that is not JSON', bytesOf('{"a":'), 'header: not valid JSON'],
    ['a header that is not UTF-8', bytesOf('{}').fill(0xff, 8), 'header: not valid JSON'],
    ['a header that is not an object', bytesOf('[]'), 'expected a JSON object'],
    [
      'a name that occurs twice',
      bytesOf(`{"a":${entry('[0]', '[0,0]')},"a":${entry('[0]', '[0,0]')}}`),
      'a: the name occurs twice',
    ],
    ['an unknown type', bytesOf(`{"a":${entry('[1]', '[0,4]', 'F99')}}`, 4), 'a.dtype'],
    ['a negative size', bytesOf(`{"a":${entry('[-1]', '[0,4]')}}`, 4), 'a.shape.0'],
    [
      'an impossible shape',
      bytesOf(`{"a":${entry('[9007199254740991,9]', '[0,4]')}}`, 4),
      'a.shape: impossible shape',
    ],
    ['a missing field', bytesOf('{"a":{"dtype":"F32","shape":[1]}}'), 'a.data_offsets'],
    [
      'a length that does not fit the shape',
      bytesOf(`{"a":${entry('[2]', '[0,4]')}}`, 4),
      '[2] of F32 needs 8 bytes',
    ],
    ['offsets outside the file', bytesOf(`{"a":${entry('[2]', '[0,8]')}}`, 4), 'it is truncated'],
    [
      'overlapping tensors',
      bytesOf(`{"a":${entry('[2]', '[0,8]')},"b":${entry('[1]', '[4,8]')}}`, 8),
      'b.data_offsets: overlaps a',
    ],
    [
      'a gap between tensors',
      bytesOf(`{"a":${entry('[1]', '[0,4]')},"b":${entry('[1]', '[8,12]')}}`, 12),
      'leaves a gap after a',
    ],
    [
      'bytes after the last tensor',
      bytesOf(`{"a":${entry('[1]', '[0,4]')}}`, 9),
      '5 bytes belong to no tensor',
    ],
    [
      'metadata that is not strings',
      bytesOf('{"__metadata__":{"a":1}}'),
      '__metadata__: expected a map of strings',
    ],
  ])('%s is an error that names the file, the field and a remedy', async (_, bytes, message) => {
    const file = await fileWith(bytes);
    const error = await openSafetensors(file).catch((reason) => reason);
    expect(error).toBeInstanceOf(FormatError);
    expect(error.message).toContain(message);
    expect(error.message).toContain(file);
    expect(error.message).toContain('save the file again');
  });

  it('reads a header with a text of megabytes in it', async () => {
    const file = await fileWith(bytesOf(`{"__metadata__":{"log":"${'\\\\n '.repeat(3_000_000)}"}}`));
    expect((await openSafetensors(file)).metadata.log).toHaveLength(9_000_000);
  });

  it('refuses integer weights but lists them', async () => {
    const file = await fileWith(bytesOf(`{"ids":${entry('[2]', '[0,16]', 'I64')}}`, 16));
    expect((await openSafetensors(file)).tensors.get('ids')!.type).toBe('I64');
    await expect(readSafetensors(file)).rejects.toThrow(
      'ids: weights must be F32, F16 or BF16, this one is I64',
    );
  });

  it('asks for a conversion when a folder holds pickled weights only', async () => {
    const pickled = await mkdtemp(join(folder, 'pickle-'));
    await expect(openSafetensors(pickled)).rejects.toThrow('expected model.safetensors');
    await writeFile(join(pickled, 'pytorch_model.bin'), 'x');
    await expect(openSafetensors(pickled)).rejects.toThrow('safe_serialization=True');
    await expect(openSafetensors(join(pickled, 'nowhere'))).rejects.toThrow('no such file');
  });

  it.each([
    ['{', 'not valid JSON'],
    ['{"weight_map":{"a":1}}', 'weight_map.a: expected text, got 1'],
    ['{"weight_map":{}}', 'weight_map: it names no tensors'],
    ['{"weight_map":{"a":"../model.safetensors"}}', 'is not the name of a safetensors file'],
    ['{"weight_map":{"missing":"F32.safetensors"}}', 'does not hold this tensor'],
    ['{"weight_map":{"a":"gone.safetensors"}}', 'cannot be opened'],
  ])('a shard index %s is an error: %s', async (json, message) => {
    await writeSafetensors(join(folder, 'F32.safetensors'), tensors);
    const index = join(folder, 'bad.safetensors.index.json');
    await writeFile(index, json);
    const error = await openSafetensors(index).catch((reason) => reason);
    expect(error).toBeInstanceOf(FormatError);
    expect(error.message).toContain(message);
  });

  it('survives truncation at any byte with a FormatError', async () => {
    const file = join(folder, 'cut.safetensors');
    await writeSafetensors(file, tensors);
    const { size } = await import('node:fs').then(({ statSync }) => statSync(file));
    for (let length = size - 1; length >= 0; length -= 7) {
      await truncate(file, length);
      await expect(readSafetensors(file)).rejects.toBeInstanceOf(FormatError);
    }
  });

  it('reads or refuses a header with any bytes changed, and never points outside the file', () => {
    const header = `{"__metadata__":{"format":"pt"},"a":${entry('[2]', '[0,8]')},"b":${entry('[1,2]', '[8,12]', 'F16')}}`;
    const good = new TextEncoder().encode(header);
    const size = 8 + good.length + 12;
    const change = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = good.slice();
        for (const [at, value] of changes) bytes[at] = value;
        try {
          for (const tensor of parseSafetensorsHeader(bytes, size, 'x').tensors.values()) {
            expect(tensor.offset + tensor.length).toBeLessThanOrEqual(size);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
