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
  [new Map([[1, 2]]), 'a Map of 1'],
  [new Set(), 'a Set of 0'],
  [new Date(0), 'a Date'],
  [new Float32Array(3), 'a Float32Array of 3'],
  [new Error('boom'), 'an Error "boom"'],
  [Object.assign(new RangeError('x'.repeat(41)), { code: 7 }), `a RangeError "${'x'.repeat(40)}…"`],
  [
    new (class Own {
      size = 'big';
    })(),
    'an Own with size',
  ],
  [Object.create(null), 'an object with no fields'],
  [{}, 'an object with no fields'],
  [{ reward: 1, extra: 2 }, 'an object with reward, extra'],
  [
    Object.fromEntries([...'abcdefghij'].map((name) => [name, 1])),
    'an object with a, b, c, d, e, f, g, h, …',
  ],
])('says that %o is %s', (value, words) => {
  expect(described(value)).toBe(words);
});
