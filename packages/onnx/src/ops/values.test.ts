import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import * as onnx from '../index.ts';
import * as ops from '../ops.ts';
import { load } from '../testing/evaluate.ts';

const data = [3, -1, 0, 2, 2, -5];

async function evaluate(build: (x: onnx.Value, y: onnx.Value) => onnx.Value, shape: onnx.Shape = [2, 3]) {
  const graph = new onnx.Graph();
  const x = graph.input('x', 'float32', shape);
  const y = build(x, graph.constant([0, 0, 0, 2, 3, -6], [2, 3]));
  graph.output('y', y);
  const result = await (await load(graph)).run({ x: { shape: [2, 3], data } });
  expect(y.shape.every((size, axis) => typeof size === 'string' || size === result.y!.shape[axis])).toBe(
    true,
  );
  return { ...result.y!, type: y.type };
}

// Worked out on paper for x = [[3, −1, 0], [2, 2, −5]] and y = [[0, 0, 0], [2, 3, −6]].
describe('operators without a gradient', () => {
  it.each<[string, (x: onnx.Value, y: onnx.Value) => onnx.Value, onnx.DataType, number[]]>([
    ['greater', ops.greater, 'bool', [1, 0, 0, 0, 0, 1]],
    ['greaterOrEqual', ops.greaterOrEqual, 'bool', [1, 0, 1, 1, 0, 1]],
    ['less', ops.less, 'bool', [0, 1, 0, 0, 1, 0]],
    ['lessOrEqual', ops.lessOrEqual, 'bool', [0, 1, 1, 1, 1, 0]],
    ['equal', ops.equal, 'bool', [0, 0, 1, 1, 0, 0]],
    ['and', (x, y) => ops.and(ops.greater(x, -2), ops.less(x, y)), 'bool', [0, 1, 0, 0, 1, 0]],
    ['or', (x, y) => ops.or(ops.greater(x, 2), ops.less(x, y)), 'bool', [1, 1, 0, 0, 1, 0]],
    ['not', (x) => ops.not(ops.greater(x, 0)), 'bool', [0, 1, 1, 0, 0, 1]],
    ['isNan', (x) => ops.isNan(ops.sqrt(x)), 'bool', [0, 1, 0, 0, 0, 1]],
    ['sign', ops.sign, 'float32', [1, -1, 0, 1, 1, -1]],
    ['argMax', (x) => ops.argMax(x), 'int64', [0, 0]],
    ['argMax along the first axis', (x) => ops.argMax(x, { axis: 0 }), 'int64', [0, 1, 0]],
    ['values of topK', (x) => ops.topK(x, 2).values, 'float32', [3, 0, 2, 2]],
    ['indices of topK', (x) => ops.topK(x, 2).indices, 'int64', [0, 2, 0, 1]],
    ['range', (x) => ops.range(x.graph, 3), 'int64', [0, 1, 2]],
    ['shapeOf', (x) => ops.shapeOf(x), 'int64', [2, 3]],
    ['filled', (x) => ops.filled(x.graph, 'float32', [2], 1.5), 'float32', [1.5, 1.5]],
  ])('%s', async (_, build, type, expected) => {
    const result = await evaluate(build);
    expect(result.type).toBe(type);
    expect(result.data).toEqual(expected);
  });

  it.each<[string, (x: onnx.Value) => onnx.Value, number[]]>([
    ['range', (x) => ops.range(x.graph, 'batch'), [0, 1]],
    ['filled', (x) => ops.filled(x.graph, 'float32', ['batch', 2], 7), [7, 7, 7, 7]],
    ['dimensionSize of a product', (x) => ops.dimensionSize(x.graph, '4*batch'), [8]],
    ['reshape', (x) => ops.shapeOf(ops.reshape(ops.expand(x, [4, 'batch', 3]), [-1, 3])), [8, 3]],
  ])('%s follows a dimension known at run time', async (_, build, expected) => {
    expect((await evaluate(build, ['batch', 3])).data).toEqual(expected);
  });

  it('names the dimensions it knows when asked for another', () => {
    const graph = new onnx.Graph();
    graph.input('x', 'float32', ['batch', 'time']);
    expect(() => ops.range(graph, 'tme')).toThrow(
      new ArgumentError('no value of the graph has a dimension "tme"; known: batch, time'),
    );
  });
});
