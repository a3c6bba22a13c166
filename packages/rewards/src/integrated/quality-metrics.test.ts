import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeIntegratedRewards, QuantileTracker, qualityMetrics, summaryStatistics } from './index.ts';

describe('summaryStatistics', () => {
  it("has numpy's conventions", () => {
    // numpy: mean 2.5, std sqrt(1.25), median 2.5 of an even number; and of [3, 1, 2].
    expect(summaryStatistics([4, 1, 3, 2])).toEqual({
      mean: 2.5,
      std: expect.closeTo(1.118033988749895, 12),
      min: 1,
      max: 4,
      median: 2.5,
    });
    expect(summaryStatistics([3, 1, 2])?.median).toBe(2);
    expect(summaryStatistics([])).toBeUndefined();
  });
});

describe('qualityMetrics', () => {
  it('leaves unscorable episodes and missing verification out, and isolates metrics that fail', () => {
    const custom = {
      nan: () => Number.NaN,
      throws: () => JSON.parse('{'),
      count: (all: readonly unknown[]) => all.length,
    };
    expect(qualityMetrics([{ reward: null }, { reward: 1 }], custom)).toEqual({
      numEpisodes: 2,
      unscorable: 1,
      rewardStats: { mean: 1, std: 0, min: 1, max: 1, median: 1 },
      custom: { nan: null, throws: null, count: 2 },
    });
    expect(qualityMetrics([{ reward: null }])).toEqual({ numEpisodes: 1, unscorable: 1, custom: {} });
    expect(qualityMetrics([])).toEqual({});
  });
});

describe('computeIntegratedRewards', () => {
  it('normalises the weights', () => {
    expect([...computeIntegratedRewards([1, 0], [0, 1])]).toEqual([
      expect.closeTo(0.7, 12),
      expect.closeTo(0.3, 12),
    ]);
    expect([...computeIntegratedRewards([1], [0], { rewardWeight: 2, verificationWeight: 2 })]).toEqual([
      0.5,
    ]);
  });

  it('refuses unequal lengths and weights that cancel', () => {
    expect(() => computeIntegratedRewards([1], [])).toThrow(
      'expected as many verification scores as rewards',
    );
    expect(() => computeIntegratedRewards([1], [1], { rewardWeight: 1, verificationWeight: -1 })).toThrow(
      'expected weights with a sum that is not 0',
    );
  });
});

describe('QuantileTracker', () => {
  it('is the quantile of the sorted window', () => {
    const value = fc.double({ min: -100, max: 100, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (values, window) => {
          const tracker = new QuantileTracker(window);
          for (const each of values) tracker.observe(each);
          const latest = values.slice(-window).sort((a, b) => a - b);
          expect(tracker.quantile(0)).toBeCloseTo(latest[0]!, 12);
          expect(tracker.quantile(1)).toBeCloseTo(latest.at(-1)!, 12);
          const rank = 0.3 * (latest.length - 1);
          const [low, high] = [latest[Math.floor(rank)]!, latest[Math.ceil(rank)]!];
          expect(tracker.quantile(0.3)).toBeCloseTo(low * (1 - (rank % 1)) + high * (rank % 1), 9);
        },
      ),
    );
  });

  it('has nothing to say before the first value, and ignores what is not finite', () => {
    const tracker = new QuantileTracker(3);
    tracker.observe(Number.NaN);
    tracker.observe(Number.POSITIVE_INFINITY);
    expect([tracker.quantile(0.5), tracker.observed]).toEqual([undefined, 0]);
    expect(() => new QuantileTracker(0)).toThrow('expected a window of at least 1 value');
    expect(() => tracker.quantile(1.5)).toThrow('expected a quantile in 0..1, got 1.5');
  });
});
