import { describe, expect, it } from 'vitest';
import {
  effectiveSampleSize,
  explainedVariance,
  normalizedWeights,
  samplerGap,
  tokenStatistics,
  zeroVarianceShare,
} from './diagnostics.ts';

describe('diagnostics', () => {
  it('describes the tokens that count', () => {
    const statistics = tokenStatistics([[1, 3, 100], [5]], [[1, 1, 0], [1]]);
    expect(statistics).toEqual({ count: 3, mean: 3, deviation: Math.sqrt(8 / 3), minimum: 1, maximum: 5 });
    expect(tokenStatistics([[7]], [[0]])).toEqual({
      count: 0,
      mean: 0,
      deviation: 0,
      minimum: 0,
      maximum: 0,
    });
    expect(() => tokenStatistics([[Number.NaN]])).toThrow(
      /values\[0\]\[0\] must be a finite number.*got NaN/,
    );
  });

  it('gives the share of equally weighted tokens that weights are worth', () => {
    expect(
      effectiveSampleSize([
        [2, 2],
        [2, 2],
      ]),
    ).toBeCloseTo(1, 12);
    expect(effectiveSampleSize([[1, 0, 0, 0]])).toBeCloseTo(0.25, 12);
    expect(effectiveSampleSize([[0, 0]])).toBe(0);
  });

  it('gives the share of variance that a critic explains', () => {
    expect(explainedVariance({ values: [[1, 2, 3]], returns: [[1, 2, 3]] })).toBe(1);
    expect(explainedVariance({ values: [[2, 2, 2]], returns: [[1, 2, 3]] })).toBe(0);
    expect(explainedVariance({ values: [[3, 2, 1]], returns: [[1, 2, 3]] })).toBe(-3);
  });

  it('does not say what a critic explains of returns that hardly vary', () => {
    expect(explainedVariance({ values: [[1, 2]], returns: [[4, 4]] })).toBeUndefined();
    expect(explainedVariance({ values: [[1, 2]], returns: [[0, 0]] })).toBeUndefined();
    expect(explainedVariance({ values: [[0.2, 0.9, 0.7]], returns: [[1, 0.98, 0.99]] })).toBeUndefined();
    expect(explainedVariance({ values: [[0.1, 0]], returns: [[1e-9, 0]] })).toBeLessThan(-1);
    const oneOf = (count: number) => [Float64Array.from({ length: count }, (_, t) => (t === 0 ? 0 : 1))];
    expect(explainedVariance({ values: oneOf(300), returns: oneOf(300) })).toBe(1);
    expect(explainedVariance({ values: oneOf(500), returns: oneOf(500) })).toBeUndefined();
  });

  it('measures the gap between sampler and trainer', () => {
    const gap = samplerGap({
      trainerLogprobs: [[-1 + Math.LN2, -1, 0]],
      samplerLogprobs: [[-1, -1, -50]],
      masks: [[1, 1, 0]],
    });
    expect(gap.k1).toBeCloseTo(-Math.LN2 / 2, 12);
    expect(gap.k3).toBeCloseTo((1 - Math.LN2) / 2, 12);
    expect(gap.absolute).toBeCloseTo(Math.LN2 / 2, 12);
    expect(gap.maxRatio).toBeCloseTo(2, 12);
    for (const [trainer, sampler, limited] of [
      [-1, -60, 20],
      [-60, -1, -20],
    ] as const) {
      const far = samplerGap({ trainerLogprobs: [[trainer]], samplerLogprobs: [[sampler]] });
      expect(far).toMatchObject({ k1: -limited, absolute: 20 });
      expect(far.k3).toBe(Math.exp(limited) - 1 - limited);
      expect(far.maxRatio).toBe(Math.exp(limited));
    }
    expect(samplerGap({ trainerLogprobs: [], samplerLogprobs: [] })).toEqual({
      k1: 0,
      k3: 0,
      absolute: 0,
      maxRatio: 1,
    });
  });

  it('normalises weights over tokens or over sequences', () => {
    const rows = (over: 'tokens' | 'sequences') =>
      normalizedWeights(
        [
          [1, 3],
          [4, 9],
        ],
        [
          [1, 1],
          [1, 0],
        ],
        { over },
      ).map((row) => [...row]);
    expect(rows('sequences')).toEqual([
      [1 / 3, 1],
      [4 / 3, 3],
    ]);
    expect(rows('tokens')[1]![0]).toBeCloseTo(1.5, 12);
    expect([...normalizedWeights([[0]], [[1]], { over: 'tokens' })[0]!]).toEqual([0]);
    const padded = normalizedWeights([[1, 3]], [[1, 1]], { over: 'sequences', countEpsilon: 2 });
    expect([...padded[0]!]).toEqual([1, 3]);
    // A sequence of which nothing is trained has no mean.
    const masked = normalizedWeights([[4], [8]], [[1], [0]], { over: 'sequences' });
    expect(masked.map((row) => [...row])).toEqual([[1], [2]]);
  });

  it('counts groups that teach nothing', () => {
    expect(zeroVarianceShare([[1, 1], [0, 1], [null, 3], []])).toBe(0.75);
    expect(zeroVarianceShare([])).toBe(0);
    expect(() => zeroVarianceShare([[Number.NaN]])).toThrow(
      'zeroVarianceShare: groups[0][0] must be a finite number (at most 1e100 in size), or null if unscorable, got NaN',
    );
  });
});
