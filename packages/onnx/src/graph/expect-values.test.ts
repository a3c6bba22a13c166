import { ArgumentError, RlpError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import * as onnx from '../index.ts';
import * as layers from '../layers.ts';
import * as ops from '../ops.ts';

const graph = new onnx.Graph();
const x = graph.input('x', 'float32', [2, 3]);
const wrong = [
  undefined,
  null,
  'wrong',
  -1.5,
  [],
  {},
  new Map(),
  { ...x, shape: ['', 3] },
  { ...x, type: 'float' },
];

const { operatorsOf: _takesName, ...operators } = { ...ops, ...layers };
const named = Object.entries(operators).filter(([, value]) => typeof value === 'function');

describe('operators', () => {
  it.each(named)('%s says what is wrong with an argument that is not a value', (name, operator) => {
    const call = operator as (...given: unknown[]) => unknown;
    for (const value of wrong) expect(() => call(value, value, value, value), name).toThrow(RlpError);
  });

  it('name the argument, what was expected and what came', () => {
    expect(() => ops.gather(x, null as never)).toThrow(
      new ArgumentError('gather: indices must be a value of a graph, such as graph.input(…), got null'),
    );
    expect(() => ops.add(x, { type: 'float32' } as never)).toThrow(
      'add: operand 1 must be a value of a graph, such as graph.input(…), got an object with type',
    );
    expect(() => ops.softmax(x, null as never)).toThrow('softmax: options: expected an object, got null');
    expect(() => ops.reshape(x, 6 as never)).toThrow(
      'reshape: shape must be a list of whole numbers and names, got 6',
    );
    expect(() => ops.range({} as never, 3)).toThrow(/expected a graph, from new Graph\(\)/);
  });
});
