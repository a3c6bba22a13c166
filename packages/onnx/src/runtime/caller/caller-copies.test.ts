import { expect, it } from 'vitest';

import { CallerCopies } from './caller-copies.ts';

const mebibyte = 2 ** 20;

it('gives V8 one reason to collect what was copied into stores, if it is much', () => {
  const allocated: number[] = [];
  const copies = new CallerCopies((bytes) => allocated.push(bytes));
  copies.copied(40 * mebibyte);
  copies.suggestCollection();
  expect(allocated).toEqual([]);
  copies.copied(24 * mebibyte);
  copies.suggestCollection();
  copies.suggestCollection();
  expect(allocated).toEqual([128 * mebibyte]);
});

it('gives another one while the caller may still need the contents', () => {
  const allocated: number[] = [];
  const copies = new CallerCopies((bytes) => allocated.push(bytes));
  copies.copied(64 * mebibyte);
  copies.suggestCollection('again');
  copies.suggestCollection('again');
  copies.suggestCollection();
  copies.suggestCollection();
  expect(allocated).toHaveLength(3);
});

it('does without where there is no memory for it', () => {
  const copies = new CallerCopies(() => {
    throw new RangeError('Array buffer allocation failed');
  });
  copies.copied(64 * mebibyte);
  expect(() => copies.suggestCollection()).not.toThrow();
});
