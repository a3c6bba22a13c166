import { weightedRewards } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { groupRelativeAdvantages } from './group-relative.ts';
import { normalizedThenSummed, standardizedOverBatch } from './reward-functions.ts';

const rewards = [
  [
    [0, 100],
    [1, 0],
    [null, null],
  ],
  [
    [1, null],
    [0, 50],
  ],
];

describe('several reward functions', () => {
  it('summed first let the widest decide, normalised first decide as weighted', () => {
    const [summed] = groupRelativeAdvantages(weightedRewards(rewards, [1, 0.5]));
    expect(summed![0]).toBeCloseTo(Math.SQRT1_2, 6);
    // Both functions of the first group have normalised scores ±√½ against each other: they cancel.
    const [first] = normalizedThenSummed(rewards, [1, 1], { epsilon: 0 });
    expect(first![0]).toBeCloseTo(first![1]!, 12);
    expect(first![2]).toBe(0);
  });

  it('standardise over the batch without what is null', () => {
    // 1, 2, 3: mean 2, unbiased deviation 1.
    expect(
      standardizedOverBatch(
        [
          [1, null],
          [2, 3],
        ],
        0,
      ),
    ).toEqual([
      [-1, 0],
      [0, 1],
    ]);
  });
});
