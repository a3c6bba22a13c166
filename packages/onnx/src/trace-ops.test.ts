import type { TensorOps } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { Graph, gradients, type Value } from './index.ts';
import { finiteDifferences, load, type Numbers, normals, relativeError } from './testing/evaluate.ts';
import { traceOps } from './trace-ops.ts';

type Loss = (ops: TensorOps<Value>, ...inputs: Value[]) => Value;

async function trace(loss: Loss, inputs: readonly Numbers[]) {
  const graph = new Graph();
  const values = inputs.map(({ shape }, index) => graph.input(`x${index}`, 'float64', shape));
  const ops = traceOps(graph, { type: 'float64' });
  const total = ops.sum(loss(ops, ...values));
  expect(total.shape).toEqual([1, 1]);
  graph.output('loss', total);
  for (const [index, gradient] of gradients(total, values).entries()) graph.output(`d${index}`, gradient);
  const { run } = await load(graph);
  const evaluate = (changed: readonly Numbers[]) =>
    run(Object.fromEntries(changed.map((numbers, index) => [`x${index}`, numbers])));
  const found = await evaluate(inputs);
  return {
    loss: found.loss!.data[0]!,
    gradients: inputs.map((_, index) => found[`d${index}`]!),
    lossAt: async (changed: readonly Numbers[]) => (await evaluate(changed)).loss!.data[0]!,
  };
}

const x = normals('x', [2, 3]);
const column = normals('column', [2, 1]);
const positive = { shape: [2, 3], data: x.data.map((value) => Math.abs(value) + 0.5) };

const smooth: readonly [string, Loss, readonly Numbers[]][] = [
  ['add', (ops, a, b) => ops.square(ops.add(a!, b!)), [x, column]],
  ['sub', (ops, a, b) => ops.square(ops.sub(a!, b!)), [column, x]],
  ['mul', (ops, a, b) => ops.mul(a!, b!), [x, column]],
  ['div', (ops, a, b) => ops.div(a!, b!), [column, positive]],
  ['neg', (ops, a) => ops.exp(ops.neg(a!)), [x]],
  ['abs', (ops, a) => ops.abs(a!), [x]],
  ['sqrt', (ops, a) => ops.sqrt(a!), [positive]],
  ['log', (ops, a) => ops.log(a!), [positive]],
  ['sigmoid', (ops, a) => ops.sigmoid(a!), [x]],
  ['tanh', (ops, a) => ops.tanh(a!), [x]],
  ['minimum', (ops, a, b) => ops.minimum(a!, b!), [x, column]],
  ['maximum', (ops, a, b) => ops.maximum(a!, b!), [x, column]],
  ['clip', (ops, a) => ops.clip(a!, -0.3, 0.4), [x]],
  ['where', (ops, a, b) => ops.where(ops.greater(a!, b!), ops.square(a!), b!), [x, column]],
  ['rowSum', (ops, a) => ops.square(ops.rowSum(a!)), [x]],
  ['a constant', (ops, a) => ops.mul(ops.constant(2.5), a!), [x]],
  [
    'a clipped surrogate',
    (ops, logprobs, old, advantages) => {
      const ratio = ops.exp(ops.sub(logprobs!, old!));
      const clipped = ops.clip(ratio, 0.8, 1.2);
      return ops.neg(ops.minimum(ops.mul(ratio, advantages!), ops.mul(clipped, advantages!)));
    },
    [x, normals('old', [2, 3]), column],
  ],
];

describe('traceOps', () => {
  it.each(smooth)('differentiates %s as central differences do', async (_, loss, inputs) => {
    const found = await trace(loss, inputs);
    const expected = await finiteDifferences(inputs, found.lossAt);
    for (const [index, gradient] of found.gradients.entries()) {
      expect(relativeError(gradient, expected[index]!)).toBeLessThan(1e-8);
    }
  });

  // Conventions of core's TensorOps, each derived by hand.
  it.each<[string, Loss, number[][], number[][]]>([
    [
      'minimum shares ties',
      (ops, a, b) => ops.minimum(a!, b!),
      [
        [1, 2],
        [1, 3],
      ],
      [
        [0.5, 1],
        [0.5, 0],
      ],
    ],
    [
      'maximum shares ties',
      (ops, a, b) => ops.maximum(a!, b!),
      [
        [1, 2],
        [1, 3],
      ],
      [
        [0.5, 0],
        [0.5, 1],
      ],
    ],
    [
      'clip passes 1 on its bounds',
      (ops, a) => ops.clip(a!, -1, 1),
      [[-1, 1, -1.1, 1.1, 0]],
      [[1, 1, 0, 0, 1]],
    ],
    ['clip may be open', (ops, a) => ops.clip(a!, Number.NEGATIVE_INFINITY, 1), [[-9, 2]], [[1, 0]]],
    ['abs is flat at 0', (ops, a) => ops.abs(a!), [[0, -2]], [[0, -1]]],
    ['comparisons carry no gradient', (ops, a) => ops.mul(ops.greaterEqual(a!, a!), a!), [[3]], [[1]]],
    ['stopGradient', (ops, a) => ops.mul(ops.stopGradient(a!), a!), [[3]], [[3]]],
    [
      'where keeps log 0 of the branch not taken out',
      (ops, a) => ops.where(ops.greater(a!, ops.constant(0)), ops.log(a!), ops.constant(0)),
      [[0, 4]],
      [[0, 0.25]],
    ],
    [
      'where keeps 1/0, √0 and ∞ out',
      (ops, a) => {
        const wild = ops.mul(ops.div(ops.constant(1), a!), ops.sqrt(ops.exp(ops.div(ops.constant(1), a!))));
        return ops.where(ops.greater(a!, ops.constant(0)), ops.square(a!), wild);
      },
      [[0.001, 2]],
      [[0.002, 4]],
    ],
  ])('%s', async (_, loss, inputs, expected) => {
    const found = await trace(
      loss,
      inputs.map((data) => ({ shape: [1, data.length], data })),
    );
    expect(found.gradients.map(({ data }) => data)).toEqual(expected);
  });

  it('takes a condition of any non-zero number', async () => {
    const loss: Loss = (ops, condition, a) => ops.where(ops.stopGradient(condition!), a!, ops.constant(9));
    const inputs = [[-2, 0]].map((data) => ({ shape: [1, 2], data }));
    const found = await trace(loss, [...inputs, { shape: [1, 2], data: [1, 1] }]);
    expect(found.loss).toBe(10);
    expect(found.gradients[1]!.data).toEqual([1, 0]);
  });
});
