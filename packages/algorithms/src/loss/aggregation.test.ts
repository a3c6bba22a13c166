import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AggregationOptions, aggregationModes, aggregationWeights } from './aggregation.ts';

const masks = [
  [0, 1, 1, 1],
  [0, 1],
  [0, 0, 0],
];
const rows = (options: AggregationOptions) => aggregationWeights(masks, options).map((row) => [...row]);

describe('aggregationWeights', () => {
  it('averages over tokens, sequences or a constant', () => {
    expect(rows({ mode: 'token-mean' })).toEqual([
      [0, 1 / 4, 1 / 4, 1 / 4],
      [0, 1 / 4],
      [0, 0, 0],
    ]);
    expect(rows({ mode: 'sequence-mean-token-mean' })).toEqual([
      [0, 1 / 6, 1 / 6, 1 / 6],
      [0, 1 / 2],
      [0, 0, 0],
    ]);
    expect(rows({ mode: 'sequence-mean-token-mean', emptySequences: 'count' })[1]).toEqual([0, 1 / 3]);
    expect(rows({ mode: 'sequence-mean-token-sum' })[1]).toEqual([0, 1 / 2]);
    expect(rows({ mode: 'sequence-mean-token-sum-norm', constant: 10 })[1]).toEqual([0, 1 / 20]);
    expect(rows({ mode: 'token-sum-norm' })[1]).toEqual([0, 1 / 4]);
  });

  it('gives zeros, never NaN, when nothing is trained', () => {
    for (const mode of aggregationModes) {
      expect([...aggregationWeights([[0, 0]], { mode })[0]!]).toEqual([0, 0]);
      expect(aggregationWeights([], { mode })).toEqual([]);
    }
  });

  it('cut into parts with the totals of the whole, adds up to the whole', () => {
    const batch = fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 6 }), {
      minLength: 2,
      maxLength: 6,
    });
    fc.assert(
      fc.property(batch, fc.constantFrom(...aggregationModes), (whole, mode) => {
        const totals = {
          constant: 7,
          totalTokens: Math.max(
            1,
            whole.flat().reduce<number>((sum, x) => sum + x, 0),
          ),
          totalSequences: Math.max(1, whole.filter((mask) => mask.includes(1)).length),
        };
        const parts = [whole.slice(0, 1), whole.slice(1)];
        const together = parts.flatMap((part) => aggregationWeights(part, { mode, ...totals }));
        expect(together).toEqual(aggregationWeights(whole, { mode, constant: 7 }));
      }),
    );
  });
});
