import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RewardWindow } from './reward-window.ts';

describe('RewardWindow', () => {
  it('has the statistics of its last values, whatever came before', () => {
    const values = fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 20 }), (all, size) => {
        const window = new RewardWindow(size);
        for (const value of all) window.add(value);
        const last = all.slice(-size);
        const sorted = [...last].sort((a, b) => a - b);
        const mean = last.reduce((sum, value) => sum + value, 0) / last.length;
        const half = sorted.length >>> 1;
        const median = sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
        const found = window.statistics()!;
        expect(found).toMatchObject({ min: sorted[0], max: sorted.at(-1), median, samples: last.length });
        expect(found.mean).toBeCloseTo(mean, 12);
        expect(found.std ** 2).toBeCloseTo(
          last.reduce((sum, value) => sum + (value - mean) ** 2, 0) / last.length,
          10,
        );
        expect([...window.values()]).toEqual(last);
        const share = (bound: number) => last.filter((value) => value === bound).length / last.length;
        expect(window.shareAt(sorted.at(-1)!)).toBeCloseTo(share(sorted.at(-1)!), 12);
        expect(window.shareAt(sorted[0]!)).toBeCloseTo(share(sorted[0]!), 12);
      }),
    );
  });

  it('measures deviation by the middle of its values, whatever lies far outside', () => {
    const window = new RewardWindow(100);
    for (const value of [1, 2, 3, 4, 5, 6, 1e6]) window.add(value);
    // Distances from the median 4 are 0, 1, 1, 2, 2, 3 and a million.
    expect(window.robustDeviation()).toBeCloseTo(2 * 1.4826, 12);
  });

  it('averages the two middle distances of an even number of values', () => {
    const window = new RewardWindow(100);
    for (const value of [1, 2, 4, 8]) window.add(value);
    // Distances from the median 3 are 1, 1, 2 and 5.
    expect(window.robustDeviation()).toBeCloseTo(1.5 * 1.4826, 12);
  });
});
