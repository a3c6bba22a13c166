import type { Loss } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import { matrixFromRows, matrixRows } from './matrix.ts';

/** −A·logprob + 0.1·H², with a diagnostic. */
const loss: Loss = {
  key: 'test',
  columns: ['advantages'],
  entropies: 'needed',
  compute: (ops, { logprobs, entropies, columns }) => ({
    tokenLosses: ops.add(
      ops.neg(ops.mul(logprobs, columns.advantages!)),
      ops.mul(ops.constant(0.1), ops.square(entropies!)),
    ),
    metrics: { entropy: entropies! },
  }),
};

const inputs = {
  logprobs: matrixFromRows([
    [-1, -2],
    [-3, Number.NaN],
  ]),
  mask: matrixFromRows([
    [1, 1],
    [1, 0],
  ]),
  weights: matrixFromRows([
    [0.5, 0.25],
    [1, 1],
  ]),
  entropies: matrixFromRows([
    [1, 2],
    [3, 9],
  ]),
  columns: {
    advantages: matrixFromRows([
      [2, -1],
      [1, 1],
    ]),
  },
};

describe('evaluate', () => {
  it('gives the weighted value, both gradients and masked metrics', () => {
    const { value, gradients, metrics } = evaluate(loss, inputs);
    // By hand: 0.5·(2 + 0.1) + 0.25·(−2 + 0.4) + 1·(3 + 0.9).
    expect(value).toBeCloseTo(0.5 * 2.1 + 0.25 * -1.6 + 3.9, 12);
    expect(matrixRows(gradients.logprobs).map((row) => [...row])).toEqual([
      [-1, 0.25],
      [-1, 0],
    ]);
    const entropyGradient = matrixRows(gradients.entropies!).map((row) => [...row]);
    expect(entropyGradient).toEqual([
      [expect.closeTo(0.1, 12), expect.closeTo(0.1, 12)],
      [expect.closeTo(0.6, 12), 0],
    ]);
    expect(metrics).toEqual({ entropy: 2 });
  });

  it('names missing columns and entropies', () => {
    expect(() => evaluate(loss, { ...inputs, columns: {} })).toThrow('needs the columns advantages');
    expect(() => evaluate(loss, { ...inputs, entropies: undefined })).toThrow('needs entropies');
  });

  it('names the matrix whose shape differs', () => {
    expect(() => evaluate(loss, { ...inputs, weights: matrixFromRows([[1]]) })).toThrow(
      'weights must have the shape of logprobs [2, 2], got [1, 1]',
    );
  });
});
