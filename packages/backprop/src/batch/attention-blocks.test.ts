import { expect, it } from 'vitest';
import { attentionCost, attentionForm, blocksOf, pairsOf, wholeBlocks } from './attention-blocks.ts';

const blocks = { pair: 1, scores: 0, microBatch: 128, attention: 'blocks' } as const;
const whole = { pair: 1, scores: 0, microBatch: 128, attention: 'whole' } as const;

it('rows of more than 512 positions are computed in blocks of about 256, if blocks are allowed', () => {
  expect([512, 513, 768, 769].map((length) => blocksOf(length, blocks))).toEqual([1, 3, 3, 4]);
  expect([512, 769].map((length) => blocksOf(length, whole))).toEqual([1, 1]);
});

it('lengths are rounded up to what blocks divide', () => {
  expect([512, 769, 1024].map((length) => wholeBlocks(length, blocks))).toEqual([512, 772, 1024]);
  expect(wholeBlocks(769, whole)).toBe(769);
});

it('a block leaves out the pairs with columns behind it', () => {
  expect(pairsOf(500, blocks)).toBe(500 ** 2);
  // 4 blocks of 256 rows, which read 1, 2, 3 and 4 blocks of columns.
  expect(pairsOf(1024, blocks)).toBe(10 * 256 ** 2);
  expect(pairsOf(1024, whole)).toBe(1024 ** 2);
});

it('a pair costs more where more scores than the cache holds are computed at once, except on devices', () => {
  const processor = { ...blocks, scores: 8 };
  const perRow = [2, 8, 16, 32].map((rows) => attentionCost(rows, 128, processor) / (rows * 128 ** 2));
  expect(perRow.map((cost) => Number(cost.toFixed(6)))).toEqual([0.7, 0.7, 0.83, 0.96]);
  expect(attentionCost(32, 128, { ...whole, scores: 0 })).toBe(32 * 128 ** 2);
});

it('rows are split where their pairs cost enough, and the longest row of a batch decides', () => {
  const split = { ...blocks, pair: 0.0025, longestSplit: 1000 };
  const formOf = (...lengths: number[]) =>
    attentionForm(
      lengths.map((length) => ({ length, blocks: blocksOf(length, split) })),
      split,
    );
  expect([formOf(100), formOf(4, 101), formOf(4, 1000), formOf(4, 1001)]).toEqual([
    'whole',
    'split',
    'split',
    'blocks',
  ]);
  // 4 parts of 100 rows, which read 1, 2, 3 and 4 of them.
  expect([100, 400].map((length) => pairsOf(length, split))).toEqual([100 ** 2, 10 * 100 ** 2]);
  expect([1, 401].map((length) => wholeBlocks(length, split))).toEqual([4, 401]);
  expect(attentionForm([{ length: 400, blocks: 1 }], whole)).toBe('whole');
  expect(attentionForm([{ length: 64, blocks: 1, stem: 512 }], split)).toBe('branches');
});
