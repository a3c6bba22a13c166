import { expect, it } from 'vitest';
import { counted } from './counted.ts';

it('counts each value, in the order in which they first occur', () => {
  expect([...counted('banana')]).toEqual([
    ['b', 1],
    ['a', 3],
    ['n', 2],
  ]);
});
