import { expect, it } from 'vitest';
import { hashText, mixedHash } from './hash-text.ts';

it('mixes as MurmurHash3 does', () => {
  // Published hashes of the empty text with these seeds.
  expect([0, 1, 0xffffffff].map(mixedHash)).toEqual([0, 0x514e28b7, 0x81f16f39]);
});

it('hashes a text to the same bits everywhere', () => {
  // From a Python program that shares no code with ours.
  expect(hashText('')).toEqual({ low: 0x92ca2f0e, high: 0x9f7c150e });
  expect(hashText('a')).toEqual({ low: 0x4c4633a9, high: 0x36851efa });
  expect(hashText('reward 🙂')).toEqual({ low: 0x2d79f740, high: 0x766403ae });
  expect(hashText('a', 7)).toEqual({ low: 0xe125d1da, high: 0xb546f08b });
});
