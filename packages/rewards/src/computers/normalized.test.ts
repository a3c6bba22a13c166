import { ArgumentError, normalizedSums } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ranks, relativeRewards, standardizedRewards } from '../computers.ts';

const score = fc.double({ min: -1e6, max: 1e6, noNaN: true });
const scores = fc.array(fc.option(score), { maxLength: 12 });

describe('ranks', () => {
  it.each([
    ['average', [1, 2.5, null, 2.5, 4]],
    ['minimum', [1, 2, null, 2, 4]],
    ['maximum', [1, 3, null, 3, 4]],
    ['dense', [1, 2, null, 2, 3]],
  ] as const)('shares ranks between ties: %s', (ties, expected) => {
    expect(ranks([-1, 0, null, 0, 7], ties)).toEqual(expected);
  });

  it('do not depend on the order, nor on anything but the order of the scores', () => {
    fc.assert(
      fc.property(scores, (drawn) => {
        expect(ranks([...drawn].reverse())).toEqual(ranks(drawn).reverse());
        expect(ranks(drawn.map((value) => value && value * 2))).toEqual(ranks(drawn));
        const present = ranks(drawn).filter((rank) => rank !== null);
        const n = present.length;
        expect(present.reduce((sum, rank) => sum + rank, 0)).toBeCloseTo((n * (n + 1)) / 2, 9);
      }),
    );
  });
});

describe('relativeRewards', () => {
  it('has mean 0 and deviation 1 where scores differ, 0 where not, and leaves null out', () => {
    const rewards = relativeRewards([3, null, 1, 2]);
    const deviation = Math.sqrt(2 / 3);
    expect(rewards[1]).toBeNull();
    expect(rewards[0]).toBeCloseTo(1 / deviation, 6);
    expect(rewards[2]).toBeCloseTo(-1 / deviation, 6);
    expect(relativeRewards([5, 5, 5])).toEqual([0, 0, 0]);
    expect(relativeRewards([5, null])).toEqual([0, null]);
    expect(relativeRewards([])).toEqual([]);
  });

  it('runs from 0 to 1 in units', () => {
    expect(relativeRewards([10, 30, 20], { scale: 'unit' })).toEqual([0, 1, 0.5]);
    expect(relativeRewards([1, 1], { scale: 'unit' })).toEqual([0.5, 0.5]);
    expect(relativeRewards([1, 1, 2, 9], { scale: 'unit', ties: 'dense' })).toEqual([0, 0, 0.5, 1]);
    expect(relativeRewards([1, 9, 9], { scale: 'unit', ties: 'minimum' })).toEqual([0, 0.5, 0.5]);
    expect(relativeRewards([null, 4], { scale: 'unit' })).toEqual([null, 0.5]);
    fc.assert(
      fc.property(scores, fc.constantFrom('average', 'minimum', 'maximum', 'dense'), (drawn, ties) => {
        for (const reward of relativeRewards(drawn, { scale: 'unit', ties })) {
          if (reward === null) continue;
          expect(reward).toBeGreaterThanOrEqual(0);
          expect(reward).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('refuses what is no number', () => {
    expect(() => relativeRewards([1, Number.NaN])).toThrow(ArgumentError);
    expect(() => standardizedRewards([Number.POSITIVE_INFINITY])).toThrow(/scores\[0\].*finite/);
  });
});

describe('standardizedRewards', () => {
  it('leaves one alone as it is, centres what is equal, and leaves null out', () => {
    expect(standardizedRewards([0.7])).toEqual([0.7]);
    expect(standardizedRewards([null, 0.7])).toEqual([null, 0.7]);
    expect(standardizedRewards([2, 2, null])).toEqual([0, 0, null]);
    expect(standardizedRewards([1, null, 3])).toEqual([-1, null, 1]);
  });
});

describe('several functions', () => {
  const rewards = [
    [
      [1, 10],
      [0, null],
      [null, null],
    ],
  ];

  it('normalises first, so that spread does not decide', () => {
    const centred = (groups: readonly (readonly (number | null)[])[]) =>
      groups.map((group) => standardizedRewards(group).map((value) => value ?? 0));
    const wide = [
      [
        [1, 0],
        [0, 100],
      ],
    ];
    expect(normalizedSums(wide, [1, 1], centred)).toEqual([[0, 0]]);
    expect(normalizedSums(rewards, [1, 0], centred)[0]![2]).toBeNull();
  });
});
