import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';

import type { Value } from '../graph/graph.ts';
import * as layers from '../layers.ts';
import * as ops from '../ops.ts';
import {
  differentiate,
  finiteDifferences,
  type Numbers,
  normals,
  relativeError,
} from '../testing/evaluate.ts';

interface TwinCase {
  readonly name: string;
  readonly inputs: readonly Numbers[];
  readonly ours: (...values: Value[]) => Value;
  readonly theirs: (...tensors: tf.Tensor[]) => tf.Tensor;
}

const x = normals('x', [3, 4]);
const y = normals('y', [3, 4]);
const row = normals('row', [4]);
const column = normals('column', [3, 1]);
const cube = normals('cube', [2, 3, 4]);
const positive = { shape: [3, 4], data: x.data.map((value) => Math.abs(value) + 0.5) };
const greaterMask = x.data.map((value, index) => value > y.data[index]!);
const ids = (like: Value, data: number[], shape: number[]) => like.graph.constant(data, shape, 'int64');

const cases: readonly TwinCase[] = [
  { name: 'add', inputs: [x, row], ours: (a, b) => ops.add(a!, b!), theirs: (a, b) => tf.add(a!, b!) },
  { name: 'sub', inputs: [column, x], ours: (a, b) => ops.sub(a!, b!), theirs: (a, b) => tf.sub(a!, b!) },
  { name: 'mul', inputs: [x, column], ours: (a, b) => ops.mul(a!, b!), theirs: (a, b) => tf.mul(a!, b!) },
  { name: 'div', inputs: [row, positive], ours: (a, b) => ops.div(a!, b!), theirs: (a, b) => tf.div(a!, b!) },
  { name: 'pow', inputs: [positive, row], ours: (a, b) => ops.pow(a!, b!), theirs: (a, b) => tf.pow(a!, b!) },
  { name: 'min', inputs: [x, y], ours: (a, b) => ops.min(a!, b!), theirs: (a, b) => tf.minimum(a!, b!) },
  { name: 'max', inputs: [x, y], ours: (a, b) => ops.max(a!, b!), theirs: (a, b) => tf.maximum(a!, b!) },
  { name: 'neg', inputs: [x], ours: (a) => ops.neg(a!), theirs: (a) => tf.neg(a!) },
  { name: 'abs', inputs: [x], ours: (a) => ops.abs(a!), theirs: (a) => tf.abs(a!) },
  { name: 'square', inputs: [x], ours: (a) => ops.square(a!), theirs: (a) => tf.square(a!) },
  { name: 'sqrt', inputs: [positive], ours: (a) => ops.sqrt(a!), theirs: (a) => tf.sqrt(a!) },
  {
    name: 'reciprocal',
    inputs: [positive],
    ours: (a) => ops.reciprocal(a!),
    theirs: (a) => tf.reciprocal(a!),
  },
  { name: 'exp', inputs: [x], ours: (a) => ops.exp(a!), theirs: (a) => tf.exp(a!) },
  { name: 'log', inputs: [positive], ours: (a) => ops.log(a!), theirs: (a) => tf.log(a!) },
  { name: 'sigmoid', inputs: [x], ours: (a) => ops.sigmoid(a!), theirs: (a) => tf.sigmoid(a!) },
  { name: 'tanh', inputs: [x], ours: (a) => ops.tanh(a!), theirs: (a) => tf.tanh(a!) },
  { name: 'sin', inputs: [x], ours: (a) => ops.sin(a!), theirs: (a) => tf.sin(a!) },
  { name: 'cos', inputs: [x], ours: (a) => ops.cos(a!), theirs: (a) => tf.cos(a!) },
  { name: 'erf', inputs: [x], ours: (a) => ops.erf(a!), theirs: (a) => tf.erf(a!) },
  { name: 'softplus', inputs: [x], ours: (a) => ops.softplus(a!), theirs: (a) => tf.softplus(a!) },
  { name: 'relu', inputs: [x], ours: (a) => ops.relu(a!), theirs: (a) => tf.relu(a!) },
  {
    name: 'clip',
    inputs: [x],
    ours: (a) => ops.clip(a!, -0.5, 0.7),
    theirs: (a) => tf.clipByValue(a!, -0.5, 0.7),
  },
  {
    name: 'where',
    inputs: [x, y],
    ours: (a, b) => ops.where(ops.greater(a!, b!), ops.square(a!), b!),
    // TensorFlow.js has no gradient for comparisons, not even zero. The condition is computed outside.
    theirs: (a, b) => tf.where(tf.tensor(greaterMask, [3, 4], 'bool'), tf.square(a!), b!),
  },
  { name: 'sum', inputs: [cube], ours: (a) => ops.sum(a!, { axes: 1 }), theirs: (a) => tf.sum(a!, 1) },
  {
    name: 'mean',
    inputs: [cube],
    ours: (a) => ops.mean(a!, { axes: [0, 2] }),
    theirs: (a) => tf.mean(a!, [0, 2]),
  },
  {
    name: 'reduceMax',
    inputs: [cube],
    ours: (a) => ops.reduceMax(a!, { axes: 2 }),
    theirs: (a) => tf.max(a!, 2),
  },
  {
    name: 'reduceMin',
    inputs: [cube],
    ours: (a) => ops.reduceMin(a!, { axes: 0 }),
    theirs: (a) => tf.min(a!, 0),
  },
  {
    name: 'cumulativeSum',
    inputs: [cube],
    ours: (a) => ops.cumulativeSum(a!, { direction: 'backward' }),
    // Along other axes TensorFlow.js 4.22's own gradient has the wrong shape.
    theirs: (a) => tf.cumsum(a!, 2, false, true),
  },
  {
    name: 'reshape',
    inputs: [x],
    ours: (a) => ops.reshape(a!, [2, 6]),
    theirs: (a) => tf.reshape(a!, [2, 6]),
  },
  {
    name: 'expand',
    inputs: [column],
    ours: (a) => ops.expand(a!, [3, 4]),
    theirs: (a) => tf.tile(a!, [1, 4]),
  },
  {
    name: 'transpose',
    inputs: [cube],
    ours: (a) => ops.transpose(a!, [2, 0, 1]),
    theirs: (a) => tf.transpose(a!, [2, 0, 1]),
  },
  {
    name: 'concat',
    inputs: [x, column],
    ours: (a, b) => ops.concat([a!, b!], 1),
    theirs: (a, b) => tf.concat([a!, b!], 1),
  },
  {
    name: 'split',
    inputs: [x],
    ours: (a) => ops.split(a!, [1, 3], 1)[1]!,
    theirs: (a) => tf.split(a!, [1, 3], 1)[1]!,
  },
  {
    name: 'slice',
    inputs: [x],
    ours: (a) => ops.slice(a!, { axis: 1, start: 1, end: 3 }),
    theirs: (a) => tf.slice(a!, [0, 1], [3, 2]),
  },
  {
    name: 'pad',
    inputs: [x],
    ours: (a) => ops.pad(a!, { axis: 0, before: 1, after: 2 }),
    theirs: (a) =>
      tf.pad(a!, [
        [1, 2],
        [0, 0],
      ]),
  },
  {
    name: 'gather',
    inputs: [x],
    ours: (a) => ops.gather(a!, ids(a!, [2, 0, 2], [3])),
    theirs: (a) => tf.gather(a!, tf.tensor1d([2, 0, 2], 'int32')),
  },
  {
    name: 'matmul',
    inputs: [cube, normals('b', [2, 4, 2])],
    ours: (a, b) => ops.matmul(a!, b!),
    theirs: (a, b) => tf.matMul(a!, b!),
  },
  {
    name: 'gemm',
    inputs: [x, normals('b', [2, 4])],
    ours: (a, b) => ops.gemm(a!, b!, { transposeB: 'yes' }),
    theirs: (a, b) => tf.matMul(a!, b!, false, true),
  },
  { name: 'softmax', inputs: [x], ours: (a) => ops.softmax(a!), theirs: (a) => tf.softmax(a!) },
  { name: 'logSoftmax', inputs: [x], ours: (a) => ops.logSoftmax(a!), theirs: (a) => tf.logSoftmax(a!) },
  { name: 'silu', inputs: [x], ours: (a) => layers.silu(a!), theirs: (a) => tf.mul(a!, tf.sigmoid(a!)) },
  {
    name: 'swiglu',
    inputs: [x, y],
    ours: (a, b) => layers.swiglu(a!, b!),
    theirs: (a, b) => tf.mul(tf.mul(a!, tf.sigmoid(a!)), b!),
  },
  {
    name: 'gelu',
    inputs: [x],
    ours: (a) => layers.gelu(a!),
    theirs: (a) => tf.mul(tf.mul(a!, 0.5), tf.add(tf.erf(tf.mul(a!, Math.SQRT1_2)), 1)),
  },
  {
    name: 'rmsNorm',
    inputs: [x, row],
    ours: (a, b) => layers.rmsNorm(a!, b!, { epsilon: 1e-5 }),
    theirs: (a, b) => tf.mul(tf.mul(a!, tf.rsqrt(tf.add(tf.mean(tf.square(a!), -1, true), 1e-5))), b!),
  },
  {
    name: 'layerNorm',
    inputs: [x, row, normals('bias', [4])],
    ours: (a, b, c) => layers.layerNorm(a!, b!, c!, { epsilon: 1e-5 }),
    theirs: (a, b, c) => {
      const { mean, variance } = tf.moments(a!, -1, true);
      return tf.add(tf.mul(tf.div(tf.sub(a!, mean), tf.sqrt(tf.add(variance, 1e-5))), b!), c!);
    },
  },
  {
    name: 'embedding',
    inputs: [x],
    ours: (a) => layers.embedding(a!, ids(a!, [1, 1, 0, 1], [4])),
    theirs: (a) => tf.gather(a!, tf.tensor1d([1, 1, 0, 1], 'int32')),
  },
  {
    name: 'attention',
    inputs: [normals('q', [1, 2, 3, 4]), normals('k', [1, 2, 3, 4]), normals('v', [1, 2, 3, 4])],
    ours: (q, k, v) => layers.attention(q!, k!, v!),
    theirs: (q, k, v) => {
      const mask = tf.tensor2d([0, -1e30, -1e30, 0, 0, -1e30, 0, 0, 0], [3, 3]);
      const scores = tf.add(tf.mul(tf.matMul(q!, k!, false, true), 0.5), mask);
      return tf.matMul(tf.softmax(scores), v!);
    },
  },
  {
    name: 'tokenLogprobs',
    inputs: [x, normals('head', [5, 4])],
    ours: (h, w) => layers.tokenLogprobs(h!, w!, ids(h!, [4, 0, 4], [3])).logprobs,
    theirs: (h, w) => {
      const oneHot = tf.oneHot(tf.tensor1d([4, 0, 4], 'int32'), 5);
      return tf.sum(tf.mul(tf.logSoftmax(tf.matMul(h!, w!, false, true)), oneHot), 1);
    },
  },
];

describe('values and gradients equal those of TensorFlow.js', () => {
  beforeAll(async () => {
    await tf.setBackend('cpu');
  });

  it.each(cases)('$name', async ({ inputs, ours, theirs }) => {
    const actual = await differentiate({ inputs, build: (values) => ours(...values), type: 'float32' });
    const tensors = inputs.map(({ shape, data }) => tf.tensor([...data], [...shape]));
    const upstream = tf.tensor([...actual.weights.data], [...actual.weights.shape]);
    const expected = tf.grads((...args: tf.Tensor[]) => theirs(...args))(tensors, upstream);
    const value = theirs(...tensors);
    expect(relativeError(actual.y, { shape: value.shape, data: [...value.dataSync()] })).toBeLessThan(2e-6);
    for (const [index, gradient] of actual.gradients.entries()) {
      const { shape } = expected[index]!;
      const data = [...expected[index]!.dataSync()];
      expect(relativeError(gradient, { shape, data })).toBeLessThan(5e-6);
    }
  });
});

/** erf to 1e-15 by its Maclaurin series, good for |x| < 4. */
function erf(at: number): number {
  let term = at;
  let total = at;
  for (let n = 1; n < 100; n++) {
    term *= (-at * at) / n;
    total += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}

// The CPU provider has no float64 kernels for these: central differences of the formula in TypeScript's float64 instead.
describe('float32-only operators agree with central differences of their formula in float64', () => {
  const exactGelu = (at: number) => 0.5 * at * (1 + erf(at * Math.SQRT1_2));
  it.each<[string, (a: Value) => Value, (at: number) => number]>([
    ['erf', ops.erf, erf],
    ['softplus', ops.softplus, (at) => Math.log1p(Math.exp(at))],
    ['silu', layers.silu, (at) => at / (1 + Math.exp(-at))],
    ['gelu', layers.gelu, exactGelu],
    ['gelu of standard operators', (a) => layers.gelu(a, { ops: 'standard' }), exactGelu],
    [
      'gelu approximated by tanh',
      (a) => layers.gelu(a, { approximate: 'tanh' }),
      (at) => 0.5 * at * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (at + 0.044715 * at ** 3))),
    ],
  ])('%s', async (_, build, formula) => {
    const actual = await differentiate({ inputs: [x], build: ([a]) => build(a!), type: 'float32' });
    const expected = await finiteDifferences([x], ([at]) =>
      at!.data.reduce((total, value, index) => total + actual.weights.data[index]! * formula(value), 0),
    );
    expect(relativeError(actual.gradients[0]!, expected[0]!)).toBeLessThan(2e-6);
  });

  it('fusedMatmul, beside matmul in float64', async () => {
    const cases = (['no', 'yes'] as const).flatMap((transposeA) =>
      (['no', 'yes'] as const).map((transposeB) => ({ transposeA, transposeB, alpha: 0.7 })),
    );
    for (const options of cases) {
      const inputs = [
        normals('a', options.transposeA === 'yes' ? [2, 1, 4, 3] : [2, 1, 3, 4]),
        normals('b', options.transposeB === 'yes' ? [3, 2, 4] : [3, 4, 2]),
      ];
      const build = (product: typeof ops.fusedMatmul) => (values: readonly Value[]) =>
        product(values[0]!, values[1]!, options);
      const actual = await differentiate({ inputs, build: build(ops.fusedMatmul), type: 'float32' });
      const expected = await differentiate({ inputs, build: build(ops.standardMatmul) });
      for (const [index, gradient] of actual.gradients.entries()) {
        expect(relativeError(gradient, expected.gradients[index]!)).toBeLessThan(2e-6);
      }
    }
  });
});
