import { ArgumentError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskedMean, maskedRowMeans, maskedVariance } from './masked.ts';
import { whitened } from './whitened.ts';

const values = [
  [1, 2, 100],
  [4, 7],
];
const masks = [
  [1, 1, 0],
  [1, 1],
];
const finite = fc.integer({ min: -100, max: 100 }).map((tenths) => tenths / 10);
/** Rows whose values are not all equal. */
const rows = fc
  .array(fc.array(finite, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 })
  .map((matrix) => [...matrix, [matrix[0]![0]! + 1]]);

describe('masked statistics', () => {
  it('leave out what is masked', () => {
    // Mean of 1, 2, 4, 7 is 3.5; squared distances 6.25, 2.25, 0.25, 12.25 sum to 21.
    expect(maskedMean(values, masks)).toBe(3.5);
    expect(maskedVariance(values, masks)).toBe(7);
    expect(maskedVariance(values, masks, { divisor: 'population' })).toBe(5.25);
    expect([...maskedRowMeans(values, masks)]).toEqual([1.5, 5.5]);
  });

  it('are 0 where nothing counts, and the variance of one token too', () => {
    expect(maskedMean([[3]], [[0]])).toBe(0);
    expect([...maskedRowMeans([[3], []], [[0], []])]).toEqual([0, 0]);
    expect(maskedVariance([[3]], [[0]])).toBe(0);
    expect(maskedVariance([[3, 5]], [[1, 0]])).toBe(0);
  });

  it('refuse numbers whose squares could overflow', () => {
    expect(() => maskedMean([[1e200]])).toThrow(
      /values\[0\]\[0\] must be a finite number \(at most 1e100 in size\), got 1e\+200/,
    );
    expect(maskedVariance([[1e100, -1e100]])).toBe(2e200);
  });

  it('name what does not fit', () => {
    expect(() => maskedMean([[1, 2]], [[1]])).toThrow(/maskedMean: masks\[0\] must have 2 tokens.*got 1/);
    expect(() => maskedMean([[1, 2]], [])).toThrow(/masks must have 1 rows.*got 0/);
    expect(() => maskedMean([[1, Number.NaN]])).toThrow(
      new ArgumentError('maskedMean: values[0][1] must be a finite number (at most 1e100 in size), got NaN'),
    );
  });
});

describe('whitened', () => {
  // First of the values 1, 2, 4, 7 in each project, from their own code.
  it.each([
    ['TRL', {}, -0.94491],
    ['OpenRLHF', { divisor: 'population', epsilonPlacement: 'variance-floor' }, -1.09109],
    ['AReaL', { divisor: 'population', epsilonPlacement: 'added', epsilon: 1e-5 }, -1.09108],
    ['rl_primitives', { epsilonPlacement: 'added' }, -0.94491],
  ] as const)('gives the number of %s', (_, options, expected) => {
    expect(whitened(values, masks, options)[0]![0]).toBeCloseTo(expected, 5);
  });

  it('keeps the mean, only shifts, or shows what is masked, where asked to', () => {
    expect(maskedMean(whitened(values, masks, { mean: 'keep' }), masks)).toBeCloseTo(3.5, 12);
    expect(whitened(values, masks, { scale: 'none' }).map((row) => [...row])).toEqual([
      [-2.5, -1.5, 0],
      [0.5, 3.5],
    ]);
    expect(whitened(values, masks, { outside: 'same-map' })[0]![2]).toBeCloseTo(96.5 / Math.sqrt(7), 6);
    expect(whitened(values, masks, { outside: 'map-of-zero' })[0]![2]).toBeCloseTo(-3.5 / Math.sqrt(7), 6);
  });

  it('gives zeros for one token, for none and for equal ones', () => {
    expect([...whitened([[2, 3]], [[1, 0]], { countEpsilon: 1e-8 })[0]!]).toEqual([0, 0]);
    expect([...whitened([[2, 3]], [[0, 0]])[0]!]).toEqual([0, 0]);
    expect([...whitened([[2]])[0]!]).toEqual([0]);
    expect([...whitened([[2, 2]])[0]!]).toEqual([0, 0]);
    expect([...whitened([[2, 2]], undefined, { epsilon: 0 })[0]!]).toEqual([0, 0]);
  });

  it('has mean 0 and variance 1, does not see shifts, scales or masked tokens', () => {
    fc.assert(
      fc.property(rows, finite, fc.double({ min: 0.5, max: 20, noNaN: true }), (matrix, shift, scale) => {
        const white = whitened(matrix, undefined, { epsilon: 0 });
        expect(maskedMean(white)).toBeCloseTo(0, 8);
        expect(maskedVariance(white)).toBeCloseTo(1, 8);
        const padded = matrix.map((row) => [...row.map((value) => value * scale + shift), shift]);
        const mask = matrix.map((row) => [...row.map(() => 1), 0]);
        const again = whitened(padded, mask, { epsilon: 0 });
        for (const [b, row] of white.entries()) {
          expect([...again[b]!]).toEqual([...Array.from(row, (value) => expect.closeTo(value, 6)), 0]);
        }
      }),
    );
  });
});
