import type { TensorOps } from '@rlp/core';
import { describeTensorOps } from '@rlp/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Matrix, matrixFromRows, matrixRows } from './matrix.ts';
import { Tape } from './tape.ts';

type Unary = 'neg' | 'abs' | 'square' | 'sqrt' | 'exp' | 'log' | 'sigmoid' | 'tanh' | 'sum' | 'rowSum';
type Binary = 'add' | 'sub' | 'mul' | 'div' | 'minimum' | 'maximum';

const unaries: Unary[] = ['neg', 'abs', 'square', 'sqrt', 'exp', 'log', 'sigmoid', 'tanh', 'sum', 'rowSum'];
const binaries: Binary[] = ['add', 'sub', 'mul', 'div', 'minimum', 'maximum'];

/** Away from 0, positive: every function here is smooth there, but for ties, which reals do not meet. */
const positive = fc.double({ min: 0.3, max: 3, noNaN: true });
const matrix = (rows: number, columns: number) =>
  fc
    .array(positive, { minLength: rows * columns, maxLength: rows * columns })
    .map((values): Matrix => ({ rows, columns, data: Float64Array.from(values) }));

/** Shapes that broadcast against `[2, 3]`. */
const broadcastable = fc.constantFrom([2, 3], [2, 1], [1, 3], [1, 1]).chain(([r, c]) => matrix(r!, c!));

type Compute = <T>(ops: TensorOps<T>, inputs: readonly T[]) => T;

function gradients(compute: Compute, inputs: readonly Matrix[]): number[][] {
  const tape = new Tape();
  const variables = inputs.map((input) => tape.variable(input));
  const output = tape.sum(compute(tape, variables));
  tape.backward(output, matrixFromRows([[1]]));
  return variables.map((variable) => [...tape.gradient(variable).data]);
}

function value(compute: Compute, inputs: readonly Matrix[]): number {
  const tape = new Tape();
  return tape.sum(
    compute(
      tape,
      inputs.map((input) => tape.data(input)),
    ),
  ).data[0]!;
}

/** Central differences: the slope of the function itself, which knows nothing of the tape. */
function differences(compute: Compute, inputs: readonly Matrix[]): number[][] {
  const width = 1e-5;
  return inputs.map((input, which) =>
    Array.from(input.data, (_, index) => {
      const moved = (by: number) =>
        inputs.map((other, at) => {
          if (at !== which) return other;
          const data = other.data.slice();
          data[index]! += by;
          return { ...other, data };
        });
      return (value(compute, moved(width)) - value(compute, moved(-width))) / (2 * width);
    }),
  );
}

function expectClose(actual: number[][], expected: number[][]): void {
  expect(actual).toEqual(
    expected.map((row) =>
      row.map((number) => expect.closeTo(number, 6 - Math.ceil(Math.log10(1 + Math.abs(number))))),
    ),
  );
}

describeTensorOps('Tape', {
  evaluate: (compute, inputs) => {
    const tape = new Tape();
    const variables = inputs.map((rows) => tape.variable(matrixFromRows(rows)));
    const output = compute(tape, variables);
    tape.backward(output, { ...output, data: output.data.map(() => 1) });
    const rowsOf = (matrix: Matrix) => matrixRows(matrix).map((row) => [...row]);
    return {
      value: rowsOf(output),
      gradients: variables.map((variable) => rowsOf(tape.gradient(variable))),
    };
  },
  tolerance: 1e-9,
});

describe('gradients equal central differences', () => {
  it.each(unaries)('%s', (operation) => {
    const compute: Compute = (ops, [x, weight]) => ops.mul(weight!, ops[operation](x!));
    fc.assert(
      fc.property(matrix(2, 3), matrix(2, 1), (x, weight) =>
        expectClose(gradients(compute, [x, weight]), differences(compute, [x, weight])),
      ),
      { numRuns: 20 },
    );
  });

  it.each(binaries)('%s, over every broadcast', (operation) => {
    const compute: Compute = (ops, [a, b, weight]) => ops.mul(weight!, ops[operation](a!, b!));
    const apart = (a: Matrix, b: Matrix) => a.data.every((x) => b.data.every((y) => Math.abs(x - y) > 1e-3));
    fc.assert(
      fc.property(broadcastable, broadcastable, matrix(2, 3), (a, b, weight) => {
        fc.pre(apart(a, b));
        expectClose(gradients(compute, [a, b, weight]), differences(compute, [a, b, weight]));
      }),
      { numRuns: 40 },
    );
  });

  it('where, clip and stopGradient inside a loss', () => {
    const compute: Compute = (ops, [x, y]) => {
      const clipped = ops.clip(ops.exp(ops.sub(x!, y!)), 0.8, 1.28);
      const chosen = ops.where(ops.greater(x!, ops.constant(1)), ops.log(x!), ops.mul(x!, y!));
      return ops.add(ops.mul(clipped, ops.stopGradient(ops.constant(3))), chosen);
    };
    const x = matrixFromRows([[0.5, 1.5, 2.5]]);
    const y = matrixFromRows([[0.6, 1.4, 0.4]]);
    expectClose(gradients(compute, [x, y]), differences(compute, [x, y]));
  });
});

describe('conventions', () => {
  const at = (x: readonly number[]) => [matrixFromRows([x])];

  it('clip passes 1 on its bounds and 0 outside', () => {
    expect(gradients((ops, [x]) => ops.clip(x!, -1, 1), at([-2, -1, 0, 1, 2]))).toEqual([[0, 1, 1, 1, 0]]);
  });

  it('minimum and maximum of equal values share the gradient equally', () => {
    const inputs = [matrixFromRows([[1, 2]]), matrixFromRows([[1, 3]])];
    expect(gradients((ops, [a, b]) => ops.minimum(a!, b!), inputs)).toEqual([
      [0.5, 1],
      [0.5, 0],
    ]);
    expect(gradients((ops, [a, b]) => ops.maximum(a!, b!), inputs)).toEqual([
      [0.5, 0],
      [0.5, 1],
    ]);
  });

  it('abs has gradient 0 at 0', () => {
    expect(gradients((ops, [x]) => ops.abs(x!), at([-3, 0, 3]))).toEqual([[-1, 0, 1]]);
  });

  it('comparisons give 0 or 1 and carry no gradient', () => {
    const compute: Compute = (ops, [x]) =>
      ops.add(
        ops.greater(x!, ops.constant(1)),
        ops.mul(ops.constant(10), ops.greaterEqual(x!, ops.constant(1))),
      );
    expect(value(compute, at([0, 1, 2]))).toBe(0 + 10 + 11);
    expect(gradients(compute, at([0, 1, 2]))).toEqual([[0, 0, 0]]);
  });

  it('where gives the branch not taken gradient 0, even where it overflows', () => {
    const compute: Compute = (ops, [x]) =>
      ops.where(ops.greater(x!, ops.constant(0)), x!, ops.exp(ops.neg(x!)));
    expect(gradients(compute, at([1000, 2]))).toEqual([[1, 1]]);
    const inverse: Compute = (ops, [x]) => ops.where(ops.greater(x!, ops.constant(0)), x!, ops.log(x!));
    expect(gradients(inverse, at([0, 2]))[0]![1]).toBe(1);
    const overflow: Compute = (ops, [x]) => ops.where(ops.greater(x!, ops.constant(800)), x!, ops.exp(x!));
    expect(gradients(overflow, at([1000]))).toEqual([[1]]);
  });

  it('sigmoid does not overflow in either tail', () => {
    expect(value((ops, [x]) => ops.sigmoid(x!), at([-1000, 1000]))).toBe(1);
  });

  it('names both shapes when operands do not broadcast', () => {
    const tape = new Tape();
    const two = tape.data(matrixFromRows([[1, 2]]));
    const three = tape.data(matrixFromRows([[1, 2, 3]]));
    expect(() => tape.add(two, three)).toThrow(
      'add: operands must have equal dimensions or dimensions of size 1, got [1, 2] and [1, 3]',
    );
  });
});
