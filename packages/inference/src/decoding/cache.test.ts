import { EngineError } from '@rlp/core';
import { parseModelConfig } from '@rlp/models';
import { expect, it } from 'vitest';
import { tinyConfigs } from '../testing/tiny-models.ts';
import { KeyValueCache } from './cache.ts';

// Two layers, two heads of eight numbers.
const config = parseModelConfig(tinyConfigs.llama, 'test');

/** A cache of three rows of five positions in which every number differs. */
function filled(): KeyValueCache {
  const cache = new KeyValueCache(config, 3, 5);
  for (const [index, array] of [...cache.keys, ...cache.values].entries()) {
    array.set(array.map((_, at) => 1000 * (index + 1) + at));
  }
  return cache;
}

it('a cache that the machine cannot hold says how large it is, and why it failed', () => {
  const making = () => new KeyValueCache(config, 2 ** 12, 2 ** 20);
  expect(making).toThrow(EngineError);
  expect(making).toThrow(
    'the key-value cache of 4096 sequences of 1048576 tokens takes 1024.0 GiB, which could not be allocated; lower maxSequences or contextLength',
  );
  try {
    making();
  } catch (error) {
    expect((error as Error).cause).toBeInstanceOf(RangeError);
  }
});

it('a position takes the keys and the values of every head and layer', () => {
  expect(new KeyValueCache(config, 3, 5).positionBytes).toBe(2 * 2 * 2 * 8 * 4);
});

it('the first positions of a row are copied, head by head', () => {
  const cache = filled();
  const before = filled();
  cache.copyRow(0, 2, 3);
  for (const [index, array] of [...cache.keys, ...cache.values].entries()) {
    const old = [...before.keys, ...before.values][index]!;
    const expected = old.slice();
    for (const head of [0, 1]) {
      const from = head * 40;
      expected.set(old.subarray(from, from + 24), 160 + from);
    }
    expect(array).toEqual(expected);
  }
});

it('positions that are saved come back, in any row, and leave others alone', () => {
  const cache = filled();
  const block = new Float32Array(2 * (cache.positionBytes / 4));
  cache.moveBlock('save', 1, 2, block);
  expect(block.slice(0, 32)).toEqual(
    Float32Array.from({ length: 32 }, (_, at) => 1000 + 80 + (at < 16 ? 16 + at : 40 + at)),
  );
  const expected = filled();
  cache.moveBlock('load', 0, 3, block);
  for (const [index, array] of [...expected.keys, ...expected.values].entries()) {
    for (const head of [0, 1]) {
      array.copyWithin(head * 40 + 24, 80 + head * 40 + 16, 80 + head * 40 + 32);
    }
    expect([...cache.keys, ...cache.values][index]).toEqual(array);
  }
});

it('what a step computed goes to the positions of its rows, as far as they reach', () => {
  const cache = new KeyValueCache(config, 3, 5);
  // Two rows, two heads, three new positions.
  const computed = Float32Array.from({ length: 2 * 2 * 3 * 8 }, (_, at) => 1 + at);
  cache.write(cache.keys[1]!, computed, 1, [0, 4]);
  const expected = new Float32Array(3 * 80);
  for (const head of [0, 1]) {
    expected.set(computed.subarray(head * 24, head * 24 + 24), 80 + head * 40);
    expected.set(computed.subarray(48 + head * 24, 48 + head * 24 + 8), 160 + head * 40 + 32);
  }
  expect(cache.keys[1]).toEqual(expected);
  expect(cache.keys[0]!.every((value) => value === 0)).toBe(true);
});

it('a tensor is a view of consecutive rows', () => {
  const cache = filled();
  const { dims, data } = cache.tensor(cache.values[1]!, 1, 2);
  expect(dims).toEqual([2, 2, 5, 8]);
  expect(data).toEqual(cache.values[1]!.slice(80));
  expect((data as Float32Array).buffer).toBe(cache.values[1]!.buffer);
});
