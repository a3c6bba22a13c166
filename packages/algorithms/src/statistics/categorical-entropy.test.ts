import { describe, expect, it } from 'vitest';
import { categoricalEntropy } from './categorical-entropy.ts';

describe('categoricalEntropy', () => {
  it('is ln V for equal logits, near 0 for one that dominates, and does not overflow', () => {
    expect(categoricalEntropy([7, 7, 7, 7])).toBeCloseTo(Math.log(4), 12);
    expect(categoricalEntropy([1000, 0])).toBe(0);
    // Probabilities 1/4 and 3/4.
    expect(categoricalEntropy([0, Math.log(3)])).toBeCloseTo(Math.log(4) - 0.75 * Math.log(3), 12);
  });

  it('refuses what is not finite or empty', () => {
    expect(() => categoricalEntropy([0, Number.NEGATIVE_INFINITY])).toThrow(/logits\[1\] must be finite/);
    expect(() => categoricalEntropy([])).toThrow(/must not be empty/);
  });
});
