import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { drawToken, mostLikely } from './draw.ts';

const off = { topK: 0, topP: 1, minP: 0 };
const probabilities = Float32Array.of(0.05, 0.4, 0, 0.3, 0.15, 0.1);

/** Pearson's statistic of `draws` draws against `expected`, which is 0 where nothing may be drawn. */
function chiSquare(expected: readonly number[], filters: typeof off, draws: number): number {
  const random = RandomStream.named('draw test', JSON.stringify(filters));
  const counts = expected.map(() => 0);
  for (let draw = 0; draw < draws; draw++) counts[drawToken(probabilities, filters, random.at(draw))]!++;
  return expected.reduce((sum, share, token) => {
    if (share === 0) return sum + (counts[token] === 0 ? 0 : Number.POSITIVE_INFINITY);
    return sum + (counts[token]! - draws * share) ** 2 / (draws * share);
  }, 0);
}

describe('drawToken', () => {
  // Shares on paper; critical values of χ² at p = 0.001 by degrees of freedom: 4 → 18.47, 2 → 13.82, 1 → 10.83.
  it.each([
    { name: 'everything', filters: off, expected: [0.05, 0.4, 0, 0.3, 0.15, 0.1], critical: 18.47 },
    { name: 'top-k', filters: { ...off, topK: 2 }, expected: [0, 4 / 7, 0, 3 / 7, 0, 0], critical: 10.83 },
    {
      name: 'top-p',
      filters: { ...off, topP: 0.8 },
      expected: [0, 0.4 / 0.85, 0, 0.3 / 0.85, 0.15 / 0.85, 0],
      critical: 13.82,
    },
    {
      name: 'min-p',
      filters: { ...off, minP: 0.3 },
      expected: [0, 0.4 / 0.85, 0, 0.3 / 0.85, 0.15 / 0.85, 0],
      critical: 13.82,
    },
    {
      name: 'all of them',
      filters: { topK: 4, topP: 0.9, minP: 0.5 },
      expected: [0, 4 / 7, 0, 3 / 7, 0, 0],
      critical: 10.83,
    },
  ])('draws from the distribution left by: $name', ({ filters, expected, critical }) => {
    expect(chiSquare(expected, filters, 5_000)).toBeLessThan(critical);
  });

  it('never draws an impossible token, at either end of the uniform range', () => {
    expect(drawToken(Float32Array.of(0, 1, 0), off, 0)).toBe(1);
    expect(drawToken(Float32Array.of(0, 0.999, 0), off, 1 - 2 ** -53)).toBe(1);
    expect(drawToken(Float32Array.of(0, 0.5, 0.5, 0), { ...off, topK: 2 }, 1 - 2 ** -53)).toBe(2);
  });
});

it('a token that ties with the last one kept is passed over, wherever it is', () => {
  const tied = Float32Array.of(0.2, 0.2, 0.6);
  const kept = { ...off, topK: 2 };
  expect([0, 0.24, 0.26, 0.9].map((uniform) => drawToken(tied, kept, uniform))).toEqual([0, 0, 2, 2]);
});

describe('mostLikely', () => {
  it('is the lowest index of the largest probability', () => {
    expect(mostLikely(Float32Array.of(0.1, 0.45, 0.45))).toBe(1);
  });
});
