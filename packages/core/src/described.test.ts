import { expect, it } from 'vitest';
import { described } from './described.ts';

it.each([
  [undefined, 'undefined'],
  [null, 'null'],
  [1.5, '1.5'],
  ['2', '"2"'],
  [() => 1, 'a function'],
  [[], 'an empty list'],
  [[1], 'a list'],
  [Promise.resolve(1), 'a promise'],
  [{}, 'an object with no fields'],
  [{ reward: 1, extra: 2 }, 'an object with reward, extra'],
  [
    Object.fromEntries([...'abcdefghij'].map((name) => [name, 1])),
    'an object with a, b, c, d, e, f, g, h, …',
  ],
])('says that %o is %s', (value, words) => {
  expect(described(value)).toBe(words);
});
