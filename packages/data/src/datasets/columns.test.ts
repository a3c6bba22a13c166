import { expect, it } from 'vitest';
import { cellOf, cellsOf } from './columns.ts';

const row = { 'a.b': 1, a: { b: 2, c: [{ d: 3 }, { e: 4 }, null, { d: 5 }] }, 'x.y': { z: 6 }, none: null };

it.each<[string, unknown[]]>([
  ['a.b', [1]],
  ['a.c.1.e', [4]],
  ['a.c.*.d', [3, 5]],
  ['*.b', [2]],
  ['x.y', [{ z: 6 }]],
  ['x.y.z', []],
  ['none', [null]],
  ['none.more', []],
  ['constructor', []],
])('finds %s', (column, found) => {
  expect(cellsOf(row, column)).toEqual(found);
  expect(cellOf(row, column)).toEqual(found[0]);
});
