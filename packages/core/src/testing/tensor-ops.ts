import type { TensorOps } from '../tensor-ops.ts';
import { describe, expect, it } from './vitest.ts';

/** Rows of a matrix. */
export type Rows = readonly (readonly number[])[];

/** Something to compute, whatever the operations work on. */
export type TensorComputation = <T>(ops: TensorOps<T>, inputs: readonly T[]) => T;

/** What came out of a computation. */
export interface TensorEvaluation {
  readonly value: Rows;
  /** Gradient of the sum of all elements of the value with respect to each input. */
  readonly gradients: readonly Rows[];
}

/** What the suite needs from an implementation. */
export interface TensorOpsSubject {
  readonly evaluate: (
    compute: TensorComputation,
    inputs: readonly Rows[],
  ) => TensorEvaluation | Promise<TensorEvaluation>;
  /** Largest difference that counts as equal, absolute. Default 1e-5, for float32. */
  readonly tolerance?: number;
}

interface Case {
  readonly name: string;
  readonly compute: TensorComputation;
  readonly inputs: readonly Rows[];
  readonly value: Rows;
  readonly gradients: readonly Rows[];
}

/** Values and derivatives of the textbook, written out as numbers. */
const unaryCases: readonly Case[] = (
  [
    ['neg', [2, -3], [-2, 3], [-1, -1]],
    ['abs', [2, -3, 0], [2, 3, 0], [1, -1, 0]],
    ['square', [3, -0.5], [9, 0.25], [6, -1]],
    ['sqrt', [4, 0.25], [2, 0.5], [0.25, 1]],
    ['exp', [0, 1], [1, Math.E], [1, Math.E]],
    ['log', [1, 4], [0, 1.386294361], [1, 0.25]],
    ['sigmoid', [0, 2], [0.5, 0.880797078], [0.25, 0.104993585]],
    ['tanh', [0, 1], [0, 0.761594156], [1, 0.419974342]],
    ['stopGradient', [2, 3], [2, 3], [0, 0]],
  ] as const
).map(([name, x, value, gradient]) => ({
  name,
  compute: (ops, [input]) => ops[name](input!),
  inputs: [[x]],
  value: [value],
  gradients: [[gradient]],
}));

const binaryCases: readonly Case[] = (
  [
    ['add', [1, 2], [3, 5], [4, 7], [1, 1], [1, 1]],
    ['sub', [1, 2], [3, 5], [-2, -3], [1, 1], [-1, -1]],
    ['mul', [2, -1], [3, 4], [6, -4], [3, 4], [2, -1]],
    ['div', [1, 6], [4, 2], [0.25, 3], [0.25, 0.5], [-0.0625, -1.5]],
    ['minimum', [1, 5, 2], [3, 4, 2], [1, 4, 2], [1, 0, 0.5], [0, 1, 0.5]],
    ['maximum', [1, 5, 2], [3, 4, 2], [3, 5, 2], [0, 1, 0.5], [1, 0, 0.5]],
    ['greater', [1, 5, 2], [3, 4, 2], [0, 1, 0], [0, 0, 0], [0, 0, 0]],
    ['greaterEqual', [1, 5, 2], [3, 4, 2], [0, 1, 1], [0, 0, 0], [0, 0, 0]],
  ] as const
).map(([name, a, b, value, gradientA, gradientB]) => ({
  name,
  compute: (ops, [left, right]) => ops[name](left!, right!),
  inputs: [[a], [b]],
  value: [value],
  gradients: [[gradientA], [gradientB]],
}));

const composedCases: readonly Case[] = [
  {
    name: 'clip passes its bounds',
    compute: (ops, [x]) => ops.clip(x!, -1, 2),
    inputs: [[[-2, -1, 0.5, 2, 3]]],
    value: [[-1, -1, 0.5, 2, 2]],
    gradients: [[[0, 1, 1, 1, 0]]],
  },
  {
    name: 'clip with one open end',
    compute: (ops, [x]) => ops.clip(x!, Number.NEGATIVE_INFINITY, 0),
    inputs: [[[-5, 1, Number.NEGATIVE_INFINITY]]],
    value: [[-5, 0, Number.NEGATIVE_INFINITY]],
    gradients: [[[1, 0, 1]]],
  },
  {
    name: 'where gives the branch not taken no gradient',
    compute: (ops, [condition, a, b]) => ops.where(condition!, a!, b!),
    inputs: [[[1, 0]], [[2, 3]], [[4, 5]]],
    value: [[2, 5]],
    gradients: [[[0, 0]], [[1, 0]], [[0, 1]]],
  },
  {
    name: 'a branch not taken has gradient 0 even where its own is infinite',
    compute: (ops, [x]) => ops.where(ops.greater(x!, ops.constant(0)), ops.log(x!), ops.constant(0)),
    inputs: [[[2, 0]]],
    value: [[Math.LN2, 0]],
    gradients: [[[0.5, 0]]],
  },
  {
    name: 'sum',
    compute: (ops, [x]) => ops.square(ops.sum(x!)),
    inputs: [
      [
        [1, 2],
        [3, -2],
      ],
    ],
    value: [[16]],
    gradients: [
      [
        [8, 8],
        [8, 8],
      ],
    ],
  },
  {
    name: 'rowSum',
    compute: (ops, [x]) => ops.square(ops.rowSum(x!)),
    inputs: [
      [
        [1, 2],
        [3, -2],
      ],
    ],
    value: [[9], [1]],
    gradients: [
      [
        [6, 6],
        [2, 2],
      ],
    ],
  },
  {
    name: 'rowMax shares the gradient among equals',
    compute: (ops, [x]) => ops.square(ops.rowMax(x!)),
    inputs: [
      [
        [1, 3, 2],
        [-4, -5, -4],
      ],
    ],
    value: [[9], [16]],
    gradients: [
      [
        [0, 6, 0],
        [-4, 0, -4],
      ],
    ],
  },
  {
    name: 'a column broadcasts, and gets the sum of its gradients',
    compute: (ops, [x, column]) => ops.mul(x!, column!),
    inputs: [
      [
        [1, 2],
        [3, 4],
      ],
      [[10], [100]],
    ],
    value: [
      [10, 20],
      [300, 400],
    ],
    gradients: [
      [
        [10, 10],
        [100, 100],
      ],
      [[3], [7]],
    ],
  },
  {
    name: 'a constant broadcasts',
    compute: (ops, [x]) => ops.sub(ops.constant(1), x!),
    inputs: [[[1], [2]]],
    value: [[0], [-1]],
    gradients: [[[-1], [-1]]],
  },
  {
    name: 'a value used twice gets both gradients',
    compute: (ops, [x]) => ops.add(ops.mul(x!, x!), x!),
    inputs: [[[3]]],
    value: [[12]],
    gradients: [[[7]]],
  },
  {
    name: 'stopGradient inside a product keeps the other factor',
    compute: (ops, [x]) => ops.mul(ops.stopGradient(x!), x!),
    inputs: [[[3, -2]]],
    value: [[9, 4]],
    gradients: [[[3, -2]]],
  },
];

function expectClose(actual: Rows, expected: Rows, tolerance: number): void {
  expect(actual.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  const gap = (x: number, y: number) => (x === y ? 0 : Math.abs(x - y));
  const differences = expected.flatMap((row, r) => row.map((x, c) => gap(x, actual[r]![c]!)));
  expect(Math.max(...differences)).toBeLessThanOrEqual(tolerance);
}

/**
 * Contract of {@link TensorOps}: values and gradients by number, ties and bounds included.
 *
 * @param name - Names the implementation in the report.
 */
export function describeTensorOps(name: string, { evaluate, tolerance = 1e-5 }: TensorOpsSubject): void {
  describe(`${name} is a TensorOps`, () => {
    it.each([...unaryCases, ...binaryCases, ...composedCases])('$name', async (expected) => {
      const { value, gradients } = await evaluate(expected.compute, expected.inputs);
      expectClose(value, expected.value, tolerance);
      expect(gradients).toHaveLength(expected.gradients.length);
      expected.gradients.forEach((gradient, input) => {
        expectClose(gradients[input]!, gradient, tolerance);
      });
    });
  });
}
