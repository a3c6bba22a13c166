import { describeTensorOps, type Rows } from '@rlp/core/testing';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, expect, it } from 'vitest';
import { TfTensorOps } from './tensor-ops.ts';
import type { TensorFlow, TfTensor } from './tensorflow.ts';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

const rowsOf = (tensor: TfTensor) => (tensor as tf.Tensor).arraySync() as Rows;

describeTensorOps('TensorFlow.js', {
  evaluate(compute, inputs) {
    const ops = new TfTensorOps(tf as unknown as TensorFlow);
    const variables = inputs.map((rows) => tf.tensor2d(rows as number[][]));
    let value: Rows = [];
    const differentiate = tf.valueAndGrads((...given: tf.Tensor[]) => {
      const output = compute<TfTensor>(ops, given);
      value = rowsOf(output);
      // TensorFlow.js refuses an input that the output does not depend on.
      return tf.addN([tf.sum(output as tf.Tensor), ...given.map((x) => tf.mul(tf.sum(x), 0))]);
    });
    const gradients = differentiate(variables).grads.map(rowsOf);
    return { value, gradients };
  },
});

it('keeps sums as matrices of one cell, which other operations broadcast', () => {
  const ops = new TfTensorOps(tf as unknown as TensorFlow);
  const total = ops.sum(
    tf.tensor2d([
      [1, 2],
      [3, 4],
    ]) as unknown as TfTensor,
  );
  expect((total as tf.Tensor).shape).toEqual([1, 1]);
  expect(rowsOf(total)).toEqual([[10]]);
});
