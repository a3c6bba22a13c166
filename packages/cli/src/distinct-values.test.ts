import { hashText, type TextHash } from '@rlp/core';
import { expect, it } from 'vitest';
import { DistinctValues, extendHash } from './distinct-values.ts';

const rowOf = (...texts: string[]): TextHash => {
  const hash = { low: 0, high: 0 };
  for (const text of texts) extendHash(hash, hashText(text, 1));
  return hash;
};

function repeatedOf(hashes: readonly TextHash[]): number {
  const values = new DistinctValues();
  for (const hash of hashes) values.add(hash);
  return values.repeated;
}

it('counts what equals an earlier one, also among more than fit at first', () => {
  const texts = Array.from({ length: 60_000 }, (_, at) => `row ${at % 50_000}`);
  expect(repeatedOf(texts.map((text) => hashText(text, 1)))).toBe(10_000);
  expect(repeatedOf(Array.from({ length: 60_000 }, () => hashText('same', 1)))).toBe(59_999);
});

it('counts on after it was asked', () => {
  const values = new DistinctValues();
  for (const text of ['a', 'b', 'a']) values.add(hashText(text, 1));
  expect([values.added, values.repeated]).toEqual([3, 1]);
  values.add(hashText('b', 1));
  expect([values.added, values.repeated]).toEqual([4, 2]);
});

it.each<[string, readonly TextHash[]]>([
  ['of one letter', [hashText('a', 1), hashText('b', 1)]],
  ['of another length', [hashText('', 1), hashText('\0', 1), hashText('\0\0', 1)]],
  ['of another meaning', [hashText('1', 1), hashText('1', 2)]],
  ['in another order', [rowOf('a', 'b'), rowOf('b', 'a')]],
  ['cut at another place', [rowOf('ab', 'c'), rowOf('a', 'bc'), rowOf('abc')]],
])('tells apart texts %s', (_, hashes) => {
  expect(repeatedOf(hashes)).toBe(0);
});

it('takes few bytes for each, and none for those that are equal', () => {
  const before = process.memoryUsage().arrayBuffers;
  const values = new DistinctValues();
  for (let at = 0; at < 200_000; at += 1) values.add(hashText(String(at % 2000), 1));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  expect(values.repeated).toBe(198_000);
});
