import type { Loss } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import { type Matrix, matrixFromRows, matrixRows } from './matrix.ts';

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

  it('gives the same for many rows, which it computes in blocks, as for each row alone', () => {
    const [rows, columns] = [700, 40];
    const filled = (value: (index: number) => number) => ({
      rows,
      columns,
      data: Float64Array.from({ length: rows * columns }, (_, index) => value(index)),
    });
    const many = {
      logprobs: filled((index) => -((index * 7) % 13) / 5),
      mask: filled((index) => (index % 3 === 0 ? 0 : 1)),
      weights: filled((index) => (index % 11) / 9),
      entropies: filled((index) => ((index * 5) % 17) / 7),
      columns: { advantages: filled((index) => ((index * 3) % 19) / 9 - 1) },
    };
    const whole = evaluate(loss, many);
    const rowOf = (matrix: Matrix, row: number) => matrixFromRows([matrixRows(matrix)[row]!]);
    let value = 0;
    for (let row = 0; row < rows; row++) {
      const alone = evaluate(loss, {
        logprobs: rowOf(many.logprobs, row),
        mask: rowOf(many.mask, row),
        weights: rowOf(many.weights, row),
        entropies: rowOf(many.entropies, row),
        columns: { advantages: rowOf(many.columns.advantages, row) },
      });
      value += alone.value;
      if (row % 50 > 0) continue;
      expect(rowOf(whole.gradients.logprobs, row).data).toEqual(alone.gradients.logprobs.data);
      expect(rowOf(whole.gradients.entropies!, row).data).toEqual(alone.gradients.entropies!.data);
      expect(rowOf(whole.tokenLosses, row).data).toEqual(alone.tokenLosses.data);
    }
    expect(whole.value).toBeCloseTo(value, 8);
  });

  it('computes a loss that sums over the batch on all rows at once', () => {
    const [rows, columns] = [600, 20];
    const centred: Loss = {
      key: 'centred',
      columns: [],
      compute: (ops, { logprobs }) => {
        const mean = ops.mul(ops.sum(logprobs), ops.constant(1 / (rows * columns)));
        return { tokenLosses: ops.square(ops.sub(logprobs, mean)) };
      },
    };
    const ones = { rows, columns, data: new Float64Array(rows * columns).fill(1) };
    const logprobs = { ...ones, data: ones.data.map((_, index) => -(index % 4)) };
    const { value, gradients } = evaluate(centred, { logprobs, mask: ones, weights: ones });
    // By hand: 0, −1, −2, −3 have mean −1.5, squares 2.25, 0.25, 0.25, 2.25 and slopes 2·(x − mean).
    expect(value).toBeCloseTo((rows * columns * 5) / 4, 8);
    expect([...gradients.logprobs.data.slice(0, 4)]).toEqual([3, 1, -1, -3].map((x) => expect.closeTo(x, 9)));
  });
});
