import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormatError, numbersOf } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fileTensors } from './file-tensors.ts';
import { openSafetensors, readSafetensors } from './read.ts';
import { writeSafetensors } from './write.ts';

async function saved(dtype: 'F32' | 'F16' | 'BF16') {
  const folder = await mkdtemp(join(tmpdir(), 'rlp-file-tensors-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'model.safetensors');
  const numbers = Float32Array.from({ length: 7 * 11 }, (_, i) => Math.sin(i) * 10 ** ((i % 9) - 6));
  const odd = Float32Array.of(Number.NaN, -0, 1 / 0);
  await writeSafetensors(
    file,
    new Map([
      ['a', { shape: [3], data: odd }],
      ['b', { shape: [7, 11], data: numbers }],
    ]),
    { dtype },
  );
  return { folder, file, tensors: fileTensors([...(await openSafetensors(file)).tensors.values()]) };
}

describe.each(['F32', 'F16', 'BF16'] as const)('tensors that stay in a file of %s', (dtype) => {
  it('have the numbers of those that are read at once, in any part', async () => {
    const { file, tensors } = await saved(dtype);
    for (const [name, { shape, data }] of await readSafetensors(file)) {
      const tensor = tensors.get(name)!;
      expect(tensor.shape).toEqual(shape);
      expect(numbersOf(tensor)).toEqual(data);
      const large = new Float32Array(100);
      expect(numbersOf(tensor, large)).toEqual(data);
      expect(numbersOf(tensor, large).buffer).toBe(large.buffer);
      for (let first = 0; first < data.length; first++) {
        for (const count of [1, 2, data.length - first]) {
          // A place that is not the beginning of its memory.
          const target = new Float32Array(count + 3).subarray(3);
          tensor.copyTo!(target, first);
          expect(target.subarray(0, data.length - first)).toEqual(data.slice(first, first + count));
          if (first + count >= data.length - 1) break;
        }
      }
      expect(tensor.data).toEqual(data);
    }
  });

  it('are read from a file that was removed, and not from one that was changed', async () => {
    const [gone, changed] = [await saved(dtype), await saved(dtype)];
    await rm(gone.file);
    expect(numbersOf(gone.tensors.get('a')!)).toHaveLength(3);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await appendFile(changed.file, 'more');
    expect(() => numbersOf(changed.tensors.get('a')!)).toThrow(FormatError);
    expect(() => changed.tensors.get('b')!.data).toThrow(
      /b: the file was changed after it was opened; load it again/,
    );
  });
});

it('keep what was asked for once, so that changes of it stay', async () => {
  const { tensors } = await saved('BF16');
  const tensor = tensors.get('b')!;
  tensor.data[5] = 42;
  expect(numbersOf(tensor)[5]).toBe(42);
  expect({ ...tensor }).toEqual({ shape: [7, 11], data: tensor.data });
  expect(structuredClone(tensor)).toEqual({ shape: [7, 11], data: tensor.data });
});
