import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeRewardVector } from './reward-vector.ts';

describe('computeRewardVector', () => {
  it('is the weighted sum, worked out on paper', () => {
    const rewards = computeRewardVector([1, 0], [0.5, 0], [0.25, 0], [1, 0.5], [0.2, 0.4, 0.8, 2]);
    expect([...rewards]).toEqual([expect.closeTo(2.6, 12), 1]);
  });

  it('adds from left to right, for any size and kind of array', () => {
    const score = fc.double({ min: -1e3, max: 1e3, noNaN: false });
    const row = fc.tuple(score, score, score, score);
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 600 }),
        fc.tuple(score, score, score, score),
        fc.constantFrom<(values: readonly number[]) => ArrayLike<number>>(
          (values) => Float64Array.from(values),
          (values) => Float32Array.from(values),
          (values) => values,
        ),
        (rows, weights, kind) => {
          const [a, b, c, d] = [0, 1, 2, 3].map((k) => kind(rows.map((values) => values[k]!))) as [
            ArrayLike<number>,
            ArrayLike<number>,
            ArrayLike<number>,
            ArrayLike<number>,
          ];
          const plain = computeRewardVector(a, b, c, d, weights);
          const [w0, w1, w2, w3] = weights;
          const sums = Array.from(a, (_, i) => w0 * a[i]! + w1 * b[i]! + w2 * c[i]! + w3 * d[i]!);
          expect(plain).toEqual(Float64Array.from(sums));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is empty for empty columns', () => {
    expect(computeRewardVector([], [], [], [], [1, 1, 1, 1])).toEqual(new Float64Array());
  });

  it('names the argument that is wrong', () => {
    const one = [1];
    expect(() => computeRewardVector(one, [1, 2], one, one, [1, 1, 1, 1])).toThrow(
      'expected keywordMatches to have 1 entries as responseLengths does, got 2',
    );
    expect(() => computeRewardVector(one, one, 0.5 as never, one, [1, 1, 1, 1])).toThrow(
      'computeRewardVector: fluencyScores must be a list, got 0.5',
    );
    expect(() => computeRewardVector(one, one, one, one, [1, 1, 1])).toThrow('expected 4 weights');
  });
});
