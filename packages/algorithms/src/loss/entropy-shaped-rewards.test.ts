import { describe, expect, it } from 'vitest';
import { entropyShapedRewards, separatelyWhitened } from './entropy-shaped-rewards.ts';

const close = (rows: readonly (readonly number[])[]) =>
  rows.map((row) => row.map((x) => expect.closeTo(x, 6)));
const lists = (rows: readonly Float64Array[]) => rows.map((row) => [...row]);

describe('entropyShapedRewards', () => {
  it('shares a bonus among successes by entropy, a malus among failures by its inverse', () => {
    const shaped = entropyShapedRewards(
      { rewards: [1, 1, 0, 0], entropies: [[1, 2], [3], [1], [0.5, 4]] },
      { bonus: 0.1 },
    );
    // Position 0: successes 1 : 3 of 2, failures 1 : 2 of 2. Position 1: one of each, all of 1.
    expect(lists(shaped)).toEqual(
      close([[1 + 0.05, 1 + 0.1], [1 + 0.15], [-1 - 0.2 / 3], [-1 - 0.4 / 3, -1 - 0.1]]),
    );
  });

  it('stays finite without entropy and without tokens', () => {
    expect(lists(entropyShapedRewards({ rewards: [1, 0, 1], entropies: [[0], [0], []] }))).toEqual(
      close([[1], [-1.1], []]),
    );
    expect(() => entropyShapedRewards({ rewards: [1], entropies: [] })).toThrow(
      'rewards must have 0 numbers',
    );
  });
});

describe('separatelyWhitened', () => {
  it('whitens each kind by itself', () => {
    const whitened = separatelyWhitened([[1, 3], [10], [30], [5]], ['a', 'b', 'b', 'c']);
    expect(lists(whitened)).toEqual(close([[-1, 1], [-1], [1], [0]]));
    expect(() => separatelyWhitened([[1]], [])).toThrow('kinds must have 1 entries');
  });
});
