import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import type * as onnx from '../index.ts';
import * as ops from '../ops.ts';
import { Graph } from './graph.ts';
import { bfloat16Bits, float16Bits } from './tensor-data.ts';

function values(...shapes: onnx.Shape[]) {
  const graph = new Graph();
  return shapes.map((shape, index) => graph.input(`x${index}`, 'float32', shape));
}

describe('Graph', () => {
  it('stores equal constants once', () => {
    const graph = new Graph();
    const first = graph.constant([1, 2]);
    expect(graph.constant(Float32Array.of(1, 2))).toBe(first);
    expect(graph.constant([1, 2], [2, 1])).not.toBe(first);
    expect(graph.constant([1, 2], [2], 'int64')).not.toBe(first);
    expect(graph.constant([0])).not.toBe(graph.constant([-0]));
  });

  it('refuses a name twice, a reserved name, and data that do not fill the shape', () => {
    const graph = new Graph();
    graph.input('x', 'float32', [2]);
    expect(() => graph.input('x', 'float32', [2])).toThrow(
      new ArgumentError('graph: the name "x" is taken; choose another one'),
    );
    expect(() => graph.input('/x', 'float32', [2])).toThrow(ArgumentError);
    expect(() => graph.initializer('w', 'float32', [2, 2], [1, 2, 3])).toThrow(
      new ArgumentError('initializer "w": the shape holds 4 elements, the data 3; both must be equal'),
    );
    const place = { file: 'model.safetensors', offset: 8, length: 16 };
    expect(() => graph.initializer('v', 'float32', [3], place)).toThrow(
      new ArgumentError('initializer "v": 3 elements of float32 take 12 bytes, the place has 16'),
    );
    expect(() => graph.initializer('u', 'float32', [4], { ...place, offset: -8 })).toThrow(
      'at least 0, got -8',
    );
    expect(() => graph.input('y', 'float32', [2, -1])).toThrow(
      new ArgumentError('"y": expected a shape of whole numbers and names, got [2, -1]'),
    );
    expect(() => graph.constant([0.5], [1], 'int64')).toThrow(
      new ArgumentError('an int64 tensor cannot hold 0.5, expected a whole number of 64 bits'),
    );
    expect(() => graph.constant([2 ** 31], [1], 'int32')).toThrow(
      new ArgumentError('an int32 tensor cannot hold 2147483648, expected a whole number of 32 bits'),
    );
    expect(() => new Graph({ opset: 12 })).toThrow(ArgumentError);
  });

  it('refuses to mix graphs', () => {
    const [a] = values([2]);
    const [b] = values([2]);
    expect(() => ops.add(a!, b!)).toThrow(
      new ArgumentError('Add: operand 1 ("x0") belongs to another graph; use values of this one'),
    );
  });

  // Bits made with numpy: np.float16(x).view(np.uint16); torch.tensor(x).bfloat16().view(torch.int16).
  it.each([
    [1, 0x3c00, 0x3f80],
    [-2.5, 0xc100, 0xc020],
    [0.1, 0x2e66, 0x3dcd],
    [65504, 0x7bff, 0x4780],
    [1e-7, 0x0002, 0x33d7],
    [-0, 0x8000, 0x8000],
    [Infinity, 0x7c00, 0x7f80],
  ])('rounds %d to 16 bits as numpy and PyTorch do', (value, half, brain) => {
    expect(float16Bits(value)).toBe(half);
    expect(bfloat16Bits(value)).toBe(brain);
  });
});

describe('shape inference', () => {
  it('broadcasts, and unifies dimensions of one name', () => {
    const [a, b] = values(['batch', 1, 4], [3, 1]);
    expect(ops.add(a!, b!).shape).toEqual(['batch', 3, 4]);
    expect(ops.mul(a!, a!).shape).toEqual(['batch', 1, 4]);
  });

  it('merges and divides named dimensions in reshape', () => {
    const [a] = values(['batch', 'time', 8]);
    expect(ops.reshape(a!, [-1, 8]).shape).toEqual(['batch*time', 8]);
    expect(ops.reshape(ops.reshape(a!, [-1, 4]), ['batch', 'time', -1]).shape).toEqual(['batch', 'time', 8]);
    expect(ops.reshape(a!, ['batch', -1]).shape).toEqual(['batch', '8*time']);
  });

  it.each<[string, (a: onnx.Value, b: onnx.Value) => onnx.Value, onnx.Shape, onnx.Shape, string]>([
    [
      'add',
      ops.add,
      [2, 3],
      [4],
      'add: operand 1 of shape [4] does not broadcast with [2, 3]: "3" and "4" differ and neither is 1',
    ],
    [
      'matmul',
      ops.matmul,
      [2, 3],
      [2, 3],
      'matmul: inner sizes must be equal, "3" and "2" differ, got [2, 3] and [2, 3]',
    ],
    [
      'gemm',
      (a, b) => ops.gemm(a, b, { transposeB: 'yes' }),
      [2, 3],
      [3, 2],
      'gemm: inner sizes must be equal, "3" and "2" differ, got [2, 3] and [3, 2] transposed',
    ],
    [
      'reshape',
      (a) => ops.reshape(a, [4]),
      [2, 3],
      [1],
      'reshape: [2, 3] does not hold the elements of [4]; both must have as many',
    ],
    [
      'reshape to -1',
      (a) => ops.reshape(a, [4, -1]),
      [2, 3],
      [1],
      'reshape: [2, 3] does not hold the elements of [4, -1]; both must have as many',
    ],
    [
      'expand',
      (a) => ops.expand(a, [2, 1]),
      [2, 3],
      [1],
      'expand: [2, 3] does not expand to [2, 1]; each axis must be 1 or equal',
    ],
    [
      'concat',
      (a, b) => ops.concat([a, b], 0),
      [2, 3],
      [2, 4],
      'concat: [2, 4] and [2, 3] must agree in every axis but 0',
    ],
    [
      'split',
      (a) => ops.split(a, [1, 1], 1)[0]!,
      [2, 3],
      [1],
      'split: parts of 1 + 1 do not fill axis 1 of [2, 3]; they must add up to it',
    ],
    [
      'slice',
      (a) => ops.slice(a, { axis: 0, end: 5 }),
      [2, 3],
      [1],
      'slice: [0, 5) lies outside axis 0 of [2, 3]; expected 0 ≤ start ≤ end ≤ 2',
    ],
    [
      'sum',
      (a) => ops.sum(a, { axes: 2 }),
      [2, 3],
      [1],
      'sum: axis 2 is outside a tensor of 2 axes, expected -2 to 1',
    ],
    ['squeeze', (a) => ops.squeeze(a, 0), [2, 3], [1], 'squeeze: axes [0] of [2, 3] must have size 1'],
    [
      'transpose',
      (a) => ops.transpose(a, [0, 0]),
      [2, 3],
      [1],
      'transpose: [0, 0] is not an order of the axes of [2, 3]; name each axis once',
    ],
    [
      'gather',
      (a, b) => ops.gather(a, b),
      [2, 3],
      [1],
      'gather: indices must be int64 or int32, got float32; use cast',
    ],
    [
      'slice of a named dimension',
      (a) => ops.slice(a, { axis: 0, end: 1 }),
      ['batch'],
      [1],
      'slice: dimension "batch" of [batch] must be a number here; build the graph with its size',
    ],
  ])('explains what is wrong with %s', (_, build, shapeA, shapeB, message) => {
    const [a, b] = values(shapeA, shapeB);
    expect(() => build(a!, b!)).toThrow(new ArgumentError(message));
  });

  it('asks for a cast where element types differ', () => {
    const [a] = values([2]);
    expect(() => ops.add(a!, ops.cast(a!, 'int64'))).toThrow(
      new ArgumentError('add: operands must have one element type, got float32, int64; use cast'),
    );
    expect(() => ops.exp(ops.cast(a!, 'int64'))).toThrow(/must be floating-point, got int64; use cast/);
  });
});
