import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type DistributionFilters, keptTokens, penalizeRepetition } from './filters.ts';

/** Weights that often repeat, span many magnitudes and are sometimes zero, as a float32 distribution. */
const distributions = fc
  .array(
    fc.oneof(
      fc.constantFrom(0, 1e-20, 1e-6, 0.25, 1, 1),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: -40, max: 0 }).map((exponent) => 10 ** exponent),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .filter((weights) => weights.some((weight) => weight > 1e-30))
  .map((weights) => {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return Float32Array.from(weights, (weight) => weight / total);
  });

const anyFilters = fc.record({
  topK: fc.integer({ min: 0, max: 70 }),
  topP: fc.oneof(fc.constant(1), fc.double({ min: 0.001, max: 1, noNaN: true })),
  minP: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
});

function order(probabilities: Float32Array): number[] {
  return [...probabilities.keys()].sort((a, b) => probabilities[b]! - probabilities[a]! || a - b);
}

/** Top-k, top-p of what is left, min-p, by sorting everything. `nearTie` says that rounding may decide top-p. */
function naive(probabilities: Float32Array, { topK, topP, minP }: DistributionFilters) {
  let kept = order(probabilities);
  let nearTie = false;
  if (topK > 0) kept = kept.slice(0, topK);
  if (topP < 1) {
    const mass = kept.reduce((sum, token) => sum + probabilities[token]!, 0);
    let sum = 0;
    let count = 0;
    while (count < kept.length && sum < topP * mass) {
      sum += probabilities[kept[count++]!]!;
      if (Math.abs(sum - topP * mass) < 1e-9) nearTie = true;
    }
    kept = kept.slice(0, count);
  }
  const most = Math.max(...probabilities);
  return { kept: kept.filter((token) => probabilities[token]! >= minP * most), nearTie };
}

/** The tokens a kept set stands for. */
function members(probabilities: Float32Array, filters: DistributionFilters): number[] {
  const kept = keptTokens(probabilities, filters);
  if (kept === undefined) return [...probabilities.keys()];
  const above = [...probabilities.keys()].filter((token) => probabilities[token]! > kept.floor);
  const level = [...probabilities.keys()].filter((token) => probabilities[token] === kept.floor);
  const tokens = [...above, ...level.slice(0, kept.atFloor)];
  expect(kept.count).toBe(tokens.length);
  expect(kept.mass).toBeCloseTo(
    tokens.reduce((sum, token) => sum + probabilities[token]!, 0),
    9,
  );
  return tokens;
}

describe('keptTokens', () => {
  it('keeps what sorting the whole vocabulary keeps', () => {
    fc.assert(
      fc.property(distributions, anyFilters, (probabilities, filters) => {
        const { kept, nearTie } = naive(probabilities, filters);
        fc.pre(!nearTie);
        expect(members(probabilities, filters).sort((a, b) => a - b)).toEqual(kept.sort((a, b) => a - b));
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps at least the most likely token, whatever the filters', () => {
    fc.assert(
      fc.property(distributions, anyFilters, (probabilities, filters) => {
        expect(members(probabilities, filters)).toContain(order(probabilities)[0]);
      }),
    );
  });

  it('is undefined when every filter is off', () => {
    expect(keptTokens(Float32Array.of(0.5, 0.5), { topK: 0, topP: 1, minP: 0 })).toBeUndefined();
  });

  // On paper: top-2 leaves 0.5 and 0.3; 0.6 of their 0.8 is 0.48, which 0.5 reaches alone.
  it('applies top-p to what top-k leaves', () => {
    const probabilities = Float32Array.of(0.3, 0.5, 0.2);
    expect(members(probabilities, { topK: 2, topP: 0.6, minP: 0 })).toEqual([1]);
    expect(members(probabilities, { topK: 0, topP: 0.6, minP: 0 })).toEqual([1, 0]);
  });

  it('prefers lower indices among equal probabilities', () => {
    expect(members(new Float32Array(8).fill(0.125), { topK: 3, topP: 1, minP: 0 })).toEqual([0, 1, 2]);
    expect(members(new Float32Array(8).fill(0.125), { topK: 0, topP: 0.5, minP: 0 })).toEqual([0, 1, 2, 3]);
  });
});

describe('keptTokens of probabilities of nearly the same size', () => {
  // 0.30 and 0.31 are in one bucket.
  it.each([
    [1, [2]],
    [2, [2, 1]],
    [3, [2, 1, 0]],
  ])('keeps the %i likeliest', (topK, expected) => {
    expect(members(Float32Array.of(0.3, 0.31, 0.39), { topK, topP: 1, minP: 0 }).toSorted()).toEqual(
      expected.toSorted(),
    );
    expect(members(Float32Array.of(0.31, 0.3, 0.39), { topK: 2, topP: 1, minP: 0 }).toSorted()).toEqual([
      0, 2,
    ]);
  });
});

describe('penalizeRepetition', () => {
  // On paper: 2 / 2 = 1, −1 · 2 = −2, 0 stays; softmax([1, −2, 0]) = e^x / (e + e^−2 + 1).
  it('divides positive and multiplies negative logits of tokens seen', () => {
    const into = new Float32Array(3);
    penalizeRepetition(Float32Array.of(2, -1, 0), [0, 1, 1], 2, into);
    const total = Math.E + Math.exp(-2) + 1;
    expect([...into]).toEqual([Math.E, Math.exp(-2), 1].map((weight) => expect.closeTo(weight / total, 6)));
  });

  it('is the softmax when nothing was seen', () => {
    const into = new Float32Array(2);
    penalizeRepetition(Float32Array.of(0, 2 * Math.log(9)), [], 2, into);
    expect([...into]).toEqual([expect.closeTo(1 / 82, 6), expect.closeTo(81 / 82, 6)]);
  });
});
