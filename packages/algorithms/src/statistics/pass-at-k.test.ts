import { describe, expect, it } from 'vitest';
import { passAtK } from './pass-at-k.ts';

describe('passAtK', () => {
  // 3 of 10 right: 1 − C(7, k) / C(10, k), by a program of its own.
  const task = [1, 0, 0, 1, 0, 0, 0, 1, 0, 0];

  it.each([
    [1, 0.3],
    [2, 8 / 15],
    [8, 1],
    [10, 1],
  ])('estimates pass@%d', (k, expected) => {
    expect(passAtK([task], k)).toBeCloseTo(expected, 12);
  });

  it('is the mean over tasks, and 0 where nothing is right', () => {
    expect(passAtK([task, task.map(() => 0)], 2)).toBeCloseTo(4 / 15, 12);
    expect(passAtK([[0, 0]], 2)).toBe(0);
  });

  it.each([0, 3, 1.5])('refuses k = %d of 2 completions', (k) => {
    expect(() => passAtK([[1, 0]], k)).toThrow(/k must be an integer from 1 to 2/);
  });

  it('refuses no tasks', () => {
    expect(() => passAtK([], 1)).toThrow(/at least one task/);
  });
});
