import { describe, expect, it } from 'vitest';

import type { Value } from '../graph/graph.ts';
import * as ops from '../ops.ts';
import {
  differentiate,
  finiteDifferences,
  type Numbers,
  normals,
  relativeError,
} from '../testing/evaluate.ts';

const matrix = normals('matrix', [3, 4]);
const row = normals('row', [4]);
const column = normals('column', [3, 1]);
const cube = normals('cube', [2, 3, 4]);
const positive: Numbers = { shape: [3, 4], data: matrix.data.map((value) => Math.abs(value) + 0.5) };

interface OpCase {
  readonly name: string;
  readonly inputs: readonly Numbers[];
  readonly build: (...values: Value[]) => Value;
}

const indices = (x: Value, data: number[], shape: number[]) => x.graph.constant(data, shape, 'int64');

const cases: readonly OpCase[] = [
  { name: 'add with broadcast', inputs: [matrix, row], build: (a, b) => ops.add(a!, b!) },
  { name: 'sub with broadcast', inputs: [column, matrix], build: (a, b) => ops.sub(a!, b!) },
  { name: 'mul with broadcast on both sides', inputs: [column, row], build: (a, b) => ops.mul(a!, b!) },
  { name: 'mul of a value by itself', inputs: [matrix], build: (a) => ops.mul(a!, a!) },
  { name: 'div with broadcast', inputs: [column, positive], build: (a, b) => ops.div(a!, b!) },
  { name: 'div of a number', inputs: [positive], build: (a) => ops.div(2, a!) },
  { name: 'neg', inputs: [matrix], build: (a) => ops.neg(a!) },
  { name: 'abs', inputs: [matrix], build: (a) => ops.abs(a!) },
  { name: 'square', inputs: [matrix], build: (a) => ops.square(a!) },
  { name: 'sqrt', inputs: [positive], build: (a) => ops.sqrt(a!) },
  { name: 'reciprocal', inputs: [positive], build: (a) => ops.reciprocal(a!) },
  { name: 'pow of a number', inputs: [positive], build: (a) => ops.pow(a!, 2.5) },
  { name: 'pow of a value', inputs: [positive, row], build: (a, b) => ops.pow(a!, b!) },
  { name: 'exp', inputs: [matrix], build: (a) => ops.exp(a!) },
  { name: 'log', inputs: [positive], build: (a) => ops.log(a!) },
  { name: 'sigmoid', inputs: [matrix], build: (a) => ops.sigmoid(a!) },
  { name: 'tanh', inputs: [matrix], build: (a) => ops.tanh(a!) },
  { name: 'sin', inputs: [matrix], build: (a) => ops.sin(a!) },
  { name: 'cos', inputs: [matrix], build: (a) => ops.cos(a!) },
  { name: 'identity', inputs: [matrix], build: (a) => ops.mul(ops.identity(a!), a!) },
  { name: 'min', inputs: [matrix, row], build: (a, b) => ops.min(a!, b!) },
  { name: 'max', inputs: [matrix, column], build: (a, b) => ops.max(a!, b!) },
  { name: 'clip', inputs: [matrix], build: (a) => ops.clip(a!, -0.5, 0.7) },
  { name: 'clip from one side', inputs: [matrix], build: (a) => ops.clip(a!, -0.5, Infinity) },
  { name: 'relu', inputs: [matrix], build: (a) => ops.mul(ops.relu(a!), 1) },
  {
    name: 'where',
    inputs: [matrix, row, column],
    build: (a, b, c) => ops.where(ops.greater(a!, 0), ops.mul(a!, b!), c!),
  },
  { name: 'sum of all', inputs: [cube], build: (a) => ops.sum(ops.square(a!)) },
  { name: 'sum over an axis', inputs: [cube], build: (a) => ops.sum(a!, { axes: 1 }) },
  { name: 'sum keeping axes', inputs: [cube], build: (a) => ops.sum(a!, { axes: [0, -1], keepAxes: 'yes' }) },
  { name: 'mean of all', inputs: [cube], build: (a) => ops.mean(ops.square(a!)) },
  { name: 'mean over axes', inputs: [cube], build: (a) => ops.mean(a!, { axes: [0, 2] }) },
  { name: 'reduceMax', inputs: [cube], build: (a) => ops.reduceMax(a!, { axes: 2 }) },
  { name: 'reduceMin', inputs: [cube], build: (a) => ops.reduceMin(a!, { axes: [0, 1], keepAxes: 'yes' }) },
  { name: 'cumulativeSum', inputs: [cube], build: (a) => ops.cumulativeSum(a!, { axis: 1 }) },
  {
    name: 'cumulativeSum backward, exclusive',
    inputs: [cube],
    build: (a) => ops.cumulativeSum(a!, { direction: 'backward', inclusive: 'no' }),
  },
  { name: 'expand', inputs: [column], build: (a) => ops.expand(a!, [2, 3, 4]) },
  { name: 'reshape', inputs: [cube], build: (a) => ops.square(ops.reshape(a!, [4, -1])) },
  {
    name: 'squeeze and unsqueeze',
    inputs: [column],
    build: (a) => ops.unsqueeze(ops.squeeze(a!, 1), [0, 2]),
  },
  { name: 'transpose', inputs: [cube], build: (a) => ops.transpose(a!, [2, 0, 1]) },
  { name: 'concat', inputs: [matrix, column], build: (a, b) => ops.concat([a!, b!, a!], 1) },
  { name: 'split', inputs: [matrix], build: (a) => ops.split(ops.square(a!), [1, 2, 1], -1)[1]! },
  { name: 'slice', inputs: [cube], build: (a) => ops.slice(a!, { axis: 2, start: 1, end: -1 }) },
  { name: 'pad', inputs: [matrix], build: (a) => ops.pad(a!, { axis: 0, before: 1, after: 2 }) },
  { name: 'gather', inputs: [matrix], build: (a) => ops.gather(a!, indices(a!, [2, 0, 2, 2], [2, 2])) },
  {
    name: 'gather on an axis',
    inputs: [cube],
    build: (a) => ops.gather(a!, indices(a!, [3, 3, 0], [3]), { axis: 2 }),
  },
  {
    name: 'gatherElements',
    inputs: [matrix],
    build: (a) => ops.gatherElements(a!, indices(a!, [0, 0, 3, 1, 2, 2], [3, 2])),
  },
  {
    name: 'scatterElements adding',
    inputs: [matrix, normals('updates', [3, 2])],
    build: (a, b) =>
      ops.scatterElements(a!, indices(a!, [0, 0, 3, 1, 2, 2], [3, 2]), b!, { reduction: 'add' }),
  },
  {
    name: 'scatterElements replacing',
    inputs: [matrix, normals('updates', [3, 2])],
    build: (a, b) => ops.scatterElements(a!, indices(a!, [0, 1, 3, 1, 2, 0], [3, 2]), b!),
  },
  {
    name: 'matmul with broadcast batches',
    inputs: [normals('a', [2, 1, 3, 4]), normals('b', [5, 4, 2])],
    build: (a, b) => ops.matmul(a!, b!),
  },
  {
    name: 'matmul of a stack by a matrix',
    inputs: [cube, normals('b', [4, 2])],
    build: (a, b) => ops.matmul(a!, b!),
  },
  ...(['no', 'yes'] as const).flatMap((transposeA) =>
    (['no', 'yes'] as const).map((transposeB) => ({
      name: `gemm with transposeA ${transposeA}, transposeB ${transposeB}`,
      inputs: [
        normals('a', transposeA === 'yes' ? [4, 3] : [3, 4]),
        normals('b', transposeB === 'yes' ? [2, 4] : [4, 2]),
        normals('c', [2]),
      ],
      build: (a?: Value, b?: Value, bias?: Value) =>
        ops.gemm(a!, b!, { transposeA, transposeB, alpha: 1.5, bias: bias! }),
    })),
  ),
  {
    name: 'linear on three axes',
    inputs: [cube, normals('weight', [5, 4]), normals('bias', [5])],
    build: (x, weight, bias) => ops.linear(x!, weight!, bias!),
  },
  { name: 'softmax', inputs: [cube], build: (a) => ops.softmax(a!, { axis: 1 }) },
  { name: 'logSoftmax', inputs: [cube], build: (a) => ops.logSoftmax(a!) },
];

describe('gradients equal central differences in float64', () => {
  it.each(cases)('$name', async ({ inputs, build }) => {
    const found = await differentiate({ inputs, build: (values) => build(...values) });
    const expected = await finiteDifferences(inputs, found.lossAt);
    for (const [index, gradient] of found.gradients.entries()) {
      expect(relativeError(gradient, expected[index]!)).toBeLessThan(1e-8);
    }
  });
});

// At a kink the gradient is a choice. These are PyTorch's (amax, maximum, relu, abs, clamp).
describe('at a kink', () => {
  it.each<[string, (x: Value) => Value, number[], number[]]>([
    ['reduceMax shares among equal ones', (x) => ops.reduceMax(x), [2, 1, 2, 0], [0.5, 0, 0.5, 0]],
    ['reduceMin shares among equal ones', (x) => ops.reduceMin(x), [0, 1, 2, 0], [0.5, 0, 0, 0.5]],
    ['max shares', (x) => ops.max(x, 1), [2, 1, 0, -1], [1, 0.5, 0, 0]],
    ['min shares', (x) => ops.min(x, 1), [2, 1, 0, -1], [0, 0.5, 1, 1]],
    ['relu is flat at 0', (x) => ops.relu(x), [0, 1, -1, 0], [0, 1, 0, 0]],
    ['abs is flat at 0', (x) => ops.abs(x), [0, 1, -1, 0], [0, 1, -1, 0]],
    ['clip passes 1 on its bounds', (x) => ops.clip(x, -1, 1), [-1, 1, -2, 2], [1, 1, 0, 0]],
  ])('%s', async (_, build, data, expected) => {
    const inputs = [{ shape: [4], data }];
    const found = await differentiate({ inputs, build: ([x]) => build(x!) });
    const scale = found.weights.data;
    const each = expected.map((value, index) => value * (scale.length === 1 ? scale[0]! : scale[index]!));
    expect(relativeError(found.gradients[0]!, { shape: [4], data: each })).toBeLessThan(1e-12);
  });
});
