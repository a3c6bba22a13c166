import { expect, it } from 'vitest';
import { nearNames } from './near-names.ts';

it.each([
  ['abcdefghijklmnop', 'abcdefghijklmXYZ', 'near'],
  ['abcdefghijklmnop', 'abcdefghijklWXYZ', 'far'],
  ['abcdefgh', 'abcdefXY', 'near'],
  ['abcdefgh', 'abcdeXYZ', 'far'],
  ['abcd', 'abdc', 'near'],
  ['abc', 'abd', 'far'],
  ['sed', 'seed', 'near'],
  ['ab', 'abc', 'far'],
  ['clip_low', 'clipLow', 'near'],
])(
  'allows a quarter of the letters to differ, at most three, and in three only a fourth to be missing: %s, %s, %s',
  (given, name, found) => {
    expect(nearNames(given, [name], (each) => each)).toEqual(found === 'near' ? [name] : []);
  },
);
