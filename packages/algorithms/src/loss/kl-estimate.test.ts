import { matrixFromRows, matrixRows, Tape } from '@rlp/tensor';
import { describe, expect, it } from 'vitest';
import { type KlOptions, klEstimate, klEstimators } from './kl-estimate.ts';

/** Estimates for δ = ln π_ref − ln π_θ. */
function estimates(deltas: readonly number[], options: KlOptions): number[] {
  const tape = new Tape();
  const logprobs = tape.data(matrixFromRows([deltas.map(() => -1)]));
  const referenceLogprobs = tape.data(matrixFromRows([deltas.map((delta) => delta - 1)]));
  return [...matrixRows(klEstimate(tape, { logprobs, referenceLogprobs }, options))[0]!];
}

const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12));

describe('klEstimate', () => {
  // e^0.5 and e^−2 from tables.
  it.each([
    ['k1', [0, -0.5, 2]],
    ['k2', [0, 0.125, 2]],
    ['k3', [0, 1.6487212707001282 - 1.5, 0.1353352832366127 + 1]],
    ['absolute', [0, 0.5, 2]],
  ] as const)('%s is what its formula says', (estimator, expected) => {
    expect(estimates([0, 0.5, -2], { estimator })).toEqual(close(expected));
  });

  it('limits the log-ratio of k3 to 20 by default, and that of others not at all', () => {
    expect(estimates([30], { estimator: 'k3' })[0]).toBeCloseTo(Math.exp(20) - 21, 3);
    expect(estimates([30], { estimator: 'k2' })).toEqual([450]);
    expect(estimates([30, -30], { estimator: 'k2', logRatioLimit: 4 })).toEqual([8, 8]);
  });

  it.each(klEstimators)('has the value of %s when it has the gradient of k2', (estimator) => {
    const deltas = [0.5, -2, 7];
    expect(estimates(deltas, { estimator, gradient: 'k2' })).toEqual(close(estimates(deltas, { estimator })));
  });

  it('limits the estimate from both sides', () => {
    expect(estimates([30, -30, 1], { estimator: 'k1', limit: 10 })).toEqual([-10, 10, -1]);
  });
});
