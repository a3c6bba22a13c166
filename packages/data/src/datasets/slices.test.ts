import { expect, it } from 'vitest';
import { datasetOf } from './dataset-of.ts';
import { slicedRows, splitSlice } from './slices.ts';

it.each([
  ['train', { name: 'train' }],
  ['train[]', { name: 'train[]' }],
  ['train[5]', { name: 'train[5]' }],
  ['train[1:2]x', { name: 'train[1:2]x' }],
  ['train[a:b]', { name: 'train[a:b]' }],
  ['train[1:2]', { name: 'train', slice: { start: 1, end: 2, unit: 'rows' } }],
  ['train@[10:]', { name: 'train', slice: { start: 10, end: undefined, unit: 'rows' } }],
  ['train[ -3 : 20 ]', { name: 'train', slice: { start: -3, end: 20, unit: 'rows' } }],
  ['[:]', { name: '', slice: { start: undefined, end: undefined, unit: 'rows' } }],
  ['a[0:1][2:3]', { name: 'a[0:1]', slice: { start: 2, end: 3, unit: 'rows' } }],
  ['line\nbreak[:10%]', { name: 'line\nbreak', slice: { start: undefined, end: 10, unit: 'percent' } }],
  ['a[90%:]', { name: 'a', slice: { start: 90, end: undefined, unit: 'percent' } }],
])('splits %j', (text, parts) => {
  expect(splitSlice(text)).toEqual(parts);
});

it.each([
  [10, 25, undefined, [3, 4, 5, 6, 7, 8, 9]],
  [10, undefined, 24, [0, 1]],
  [7, -50, undefined, [4, 5, 6]],
  [3, 0, 100, [0, 1, 2]],
  [0, 0, 50, []],
])('of %d rows takes %s to %s percent, rounded to whole rows', async (count, start, end, expected) => {
  const dataset = datasetOf(Array.from({ length: count }, (_, n) => ({ n })));
  const sliced = await slicedRows(dataset, { start, end, unit: 'percent' });
  expect((await sliced.toArray()).map(({ n }) => n)).toEqual(expected);
});
