import { parseModelConfig } from '@rlp/models';
import type { Tensors } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';
import { tinyConfigs } from '../testing/tiny-models.ts';
import { deviceFeeds } from './device-feeds.ts';
import { fusedFeeds } from './fused-feeds.ts';

// Two heads of keys and values.
const config = parseModelConfig(tinyConfigs.llama, 'test');
const sizes = (contextLength: number) =>
  ({ config, contextLength, maxSequences: 8, type: 'float32' }) as const;
const shown = (feeds: Tensors) =>
  Object.fromEntries(
    Object.entries(feeds).map(([name, { data, dims }]) => [
      name,
      [Array.from(data as Float32Array, Number), dims],
    ]),
  );

it('a token for each of the first rows comes with the positions that the rows have reached', () => {
  const inputs = { firstRow: 0, tokens: [[7], [8], [9]], lengths: [4, 6, 5], temperatures: [1, 2, 0.5] };
  expect(shown(fusedFeeds(inputs, ['positions'], 40))).toEqual({
    tokens: [
      [7, 8, 9],
      [3, 1],
    ],
    positions: [
      [4, 6, 5],
      [3, 1],
    ],
    last_positions: [[4, 6, 5], [3]],
    total: [[7], [1]],
    inverse_temperature: [
      [1, 0.5, 2],
      [3, 1],
    ],
  });
});

it('tokens go to the lines of their rows, heads and positions, and padding to the last position', () => {
  const inputs = { firstRow: 1, tokens: [[7, 8, 9], [5]], lengths: [0, 2], temperatures: [1, 1] };
  const feeds = deviceFeeds(inputs, sizes(40));
  const { tokens, places, positions, key_places, slots, start, end, rows } = shown(feeds);
  const pad = <Value>(values: readonly Value[], rest: Value) => [
    ...values,
    ...new Array<Value>(16 - values.length).fill(rest),
  ];
  expect(tokens).toEqual([
    [...pad([7, 8, 9], 0), ...pad([5], 0)],
    [2, 16],
  ]);
  const counted = (from: number) => Array.from({ length: 16 }, (_, at) => from + at);
  expect(places).toEqual([
    [...counted(0), ...counted(2)],
    [2, 16, 1],
  ]);
  expect(positions).toEqual([places![0], [2, 16]]);
  // 41 lines for each head: the last one takes padding.
  const line = (row: number, head: number) => (row * 2 + head) * 41;
  expect(slots).toEqual([
    [
      ...pad(
        [0, 1, 2].map((at) => line(1, 0) + at),
        line(1, 0) + 40,
      ),
      ...pad(
        [0, 1, 2].map((at) => line(1, 1) + at),
        line(1, 1) + 40,
      ),
      ...pad([line(2, 0) + 2], line(2, 0) + 40),
      ...pad([line(2, 1) + 2], line(2, 1) + 40),
    ],
    [64, 1],
  ]);
  // A context of 40 has no 64 keys.
  expect(key_places).toEqual([Array.from({ length: 40 }, (_, key) => key), [40]]);
  expect([start, end]).toEqual([
    [[1, 0], [2]],
    [[3, 40], [2]],
  ]);
  expect(rows).toEqual([[2, 16], [2]]);
});

it('a step of one token is not padded, and reads keys in multiples of 64', () => {
  const keys = (length: number) => {
    const inputs = { firstRow: 0, tokens: [[3]], lengths: [length], temperatures: [1] };
    const { tokens, end, key_places } = shown(deviceFeeds(inputs, sizes(200)));
    expect(tokens).toEqual([[3], [1, 1]]);
    expect(end![0]).toEqual([1, key_places![0]!.length]);
    return key_places![0]!.length;
  };
  expect([0, 63, 64, 127, 128, 191, 192].map(keys)).toEqual([64, 64, 128, 128, 192, 192, 200]);
});

it('positions stay within the context, and the last tokens of a row are asked for', () => {
  const inputs = { firstRow: 0, tokens: [[1, 2, 3, 4]], lengths: [16], temperatures: [1, 1, 2] };
  const { places, rows, inverse_temperature } = shown(deviceFeeds(inputs, sizes(20)));
  expect(places![0]).toEqual([16, 17, 18, ...new Array<number>(13).fill(19)]);
  expect(rows).toEqual([[1, 2, 3], [3]]);
  expect(inverse_temperature).toEqual([
    [1, 1, 0.5],
    [3, 1],
  ]);
});
