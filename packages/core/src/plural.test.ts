import { expect, it } from 'vitest';
import { plural } from './plural.ts';

it('says one of something, and several', () => {
  expect([0, 1, 2].map((count) => plural(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows']);
  expect([1, 3].map((count) => plural(count, 'batch is', 'batches are'))).toEqual([
    '1 batch is',
    '3 batches are',
  ]);
});
