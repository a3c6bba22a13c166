import { expect, it } from 'vitest';

import { CallerCopies } from './caller-copies.ts';

const mebibyte = 2 ** 20;

function contents(size: number) {
  const shape = [(size * mebibyte) / 4];
  return new Map([['w', { shape, data: new Float32Array(shape[0]!) }]]);
}

it('gives V8 one reason to collect what was copied into stores, if it is much', () => {
  const allocated: number[] = [];
  const copies = new CallerCopies((bytes) => allocated.push(bytes));
  copies.copied(contents(40));
  copies.suggestCollection();
  expect(allocated).toEqual([]);
  copies.copied(contents(24));
  copies.suggestCollection();
  copies.suggestCollection();
  expect(allocated).toEqual([128 * mebibyte]);
});

it('gives another one while the caller may still need the contents', () => {
  const allocated: number[] = [];
  const copies = new CallerCopies((bytes) => allocated.push(bytes));
  copies.copied(contents(64));
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
  copies.copied(contents(64));
  expect(() => copies.suggestCollection()).not.toThrow();
});
