import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ArgumentError } from '@rlp/core';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';

import * as onnx from '../index.ts';
import * as ops from '../ops.ts';
import { Graph } from './graph.ts';
import { serialize } from './serialize.ts';

// The messages we write, as onnx.proto3 of ONNX 1.17 declares them; decoded by protobufjs's reflection, which shares no code
// with our writer but the varint primitives. Empty strings decode as absent.
const { root } = protobuf.parse(
  `
  syntax = "proto3";
  message Attribute { string name = 1; float f = 2; int64 i = 3; bytes s = 4; Tensor t = 5; repeated float floats = 7;
    repeated int64 ints = 8 [packed = false]; repeated bytes strings = 9; int32 type = 20; }
  message Node { repeated string input = 1; repeated string output = 2; string name = 3; string op_type = 4;
    repeated Attribute attribute = 5; string domain = 7; }
  message Entry { string key = 1; string value = 2; }
  message Tensor { repeated int64 dims = 1 [packed = false]; int32 data_type = 2; string name = 8; bytes raw_data = 9;
    repeated Entry external_data = 13; int32 data_location = 14; }
  message Dimension { oneof value { int64 dim_value = 1; string dim_param = 2; } }
  message Shape { repeated Dimension dim = 1; }
  message TensorType { int32 elem_type = 1; Shape shape = 2; }
  message Type { TensorType tensor_type = 1; }
  message ValueInfo { string name = 1; Type type = 2; }
  message Graph { repeated Node node = 1; string name = 2; repeated Tensor initializer = 5; repeated ValueInfo input = 11;
    repeated ValueInfo output = 12; }
  message Opset { string domain = 1; int64 version = 2; }
  message Model { int64 ir_version = 1; string producer_name = 2; Graph graph = 7; repeated Opset opset_import = 8; }
`,
  { keepCase: true },
);

function decode(graph: Graph) {
  const type = root.lookupType('Model');
  return type.toObject(type.decode(serialize(graph)), { longs: Number, bytes: Array, defaults: false });
}

describe('serialize', () => {
  it('writes inputs with symbolic dimensions, nodes, constants and outputs', () => {
    const graph = new Graph();
    const x = graph.input('x', 'float32', ['batch', 4]);
    graph.output('y', ops.add(x, 0.5));
    expect(decode(graph)).toEqual({
      ir_version: 10,
      producer_name: 'rlp',
      opset_import: [{ version: 21 }],
      graph: {
        name: 'graph',
        node: [{ op_type: 'Add', name: 'Add_0', input: ['x', '/constant_0'], output: ['y'] }],
        initializer: [{ name: '/constant_0', data_type: 1, raw_data: [0, 0, 0, 0x3f] }],
        input: [
          {
            name: 'x',
            type: {
              tensor_type: { elem_type: 1, shape: { dim: [{ dim_param: 'batch' }, { dim_value: 4 }] } },
            },
          },
        ],
        output: [
          {
            name: 'y',
            type: {
              tensor_type: { elem_type: 1, shape: { dim: [{ dim_param: 'batch' }, { dim_value: 4 }] } },
            },
          },
        ],
      },
    });
  });

  it('writes every kind of attribute', () => {
    const graph = new Graph();
    const x = graph.input('x', 'float32', [2]);
    const definition = onnx.defineOp({ type: 'Custom', domain: 'com.microsoft' });
    const attributes = {
      int: -3,
      float: { float: 0.25 },
      text: 'none',
      ints: [-1, 2],
      strings: ['a', 'bc'],
      tensor: { type: 'int64', tensor: -2 },
    } as const;
    graph.output('y', ops.applyOne(definition, [x, undefined, x], attributes, x));
    const model = decode(graph);
    expect(model.opset_import).toEqual([{ version: 21 }, { domain: 'com.microsoft', version: 1 }]);
    expect(model.graph.node[0]).toMatchObject({
      domain: 'com.microsoft',
      input: ['x', '', 'x'],
      attribute: [
        { name: 'int', i: -3, type: 2 },
        { name: 'float', f: 0.25, type: 1 },
        { name: 'text', s: [...Buffer.from('none')], type: 3 },
        { name: 'ints', ints: [-1, 2], type: 7 },
        { name: 'strings', strings: [[97], [98, 99]], type: 8 },
        { name: 'tensor', t: { dims: [1], data_type: 7, raw_data: [254, ...Array(7).fill(255)] }, type: 4 },
      ],
    });
  });

  it('leaves out what no output depends on', () => {
    const graph = new Graph();
    const x = graph.input('x', 'float32', [2]);
    const unused = graph.input('unused', 'float32', [2]);
    ops.exp(ops.mul(unused, 7));
    graph.output('y', ops.neg(x));
    const { graph: written } = decode(graph);
    expect(written.node.map((node: { op_type: string }) => node.op_type)).toEqual(['Neg']);
    expect(written.input.map((input: { name: string }) => input.name)).toEqual(['x']);
    expect(written.initializer).toBeUndefined();
    const bytes = serialize(graph);
    expect([bytes.constructor, bytes.buffer.byteLength]).toEqual([Uint8Array, bytes.byteLength]);
    const kept = serialize(graph, { unusedInputs: 'keep' });
    expect(kept.length).toBeGreaterThan(serialize(graph).length);
  });

  it('gives one value two names, and an input as an output', async () => {
    const graph = new Graph();
    const x = graph.input('x', 'float32', [2]);
    const y = ops.neg(x);
    graph.output('first', y);
    graph.output('second', y);
    graph.output('same', x);
    const session = await InferenceSession.create(serialize(graph));
    const result = await session.run({ x: new Tensor('float32', [1, 2], [2]) });
    expect(Object.entries(result).map(([name, { data }]) => [name, ...(data as Float32Array)])).toEqual([
      ['first', -1, -2],
      ['second', -1, -2],
      ['same', 1, 2],
    ]);
  });

  it('reads an initializer from its place in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rlp-onnx-'));
    try {
      const content = new Uint8Array(64);
      content.set(new Uint8Array(Float32Array.of(3, 5).buffer), 20);
      await writeFile(join(folder, 'model.safetensors'), content);
      const graph = new Graph();
      const place = { file: 'model.safetensors', offset: 20, length: 8 };
      graph.output(
        'y',
        ops.add(graph.initializer('w', 'float32', [2], place), graph.input('x', 'float32', [2])),
      );
      expect(decode(graph).graph.initializer).toEqual([
        {
          name: 'w',
          dims: [2],
          data_type: 1,
          data_location: 1,
          external_data: [
            { key: 'location', value: 'model.safetensors' },
            { key: 'offset', value: '20' },
            { key: 'length', value: '8' },
          ],
        },
      ]);
      await writeFile(join(folder, 'graph.onnx'), serialize(graph));
      const session = await InferenceSession.create(join(folder, 'graph.onnx'));
      const { y } = await session.run({ x: new Tensor('float32', [1, 1], [2]) });
      expect([...(y!.data as Float32Array)]).toEqual([4, 6]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('refuses a graph without outputs and a model over 2 GB', () => {
    const graph = new Graph();
    expect(() => serialize(graph)).toThrow(
      new ArgumentError('serialize: the graph has no outputs; name at least one with graph.output'),
    );
    const huge = { byteLength: 2 ** 31 } as Uint8Array;
    Object.setPrototypeOf(huge, Uint8Array.prototype);
    Object.defineProperty(huge, 'byteLength', { value: 2 ** 31 });
    const value = graph.input('w', 'float32', [2 ** 29]);
    graph.initializers.push({ value, data: huge });
    graph.output('y', ops.neg(value));
    expect(() => serialize(graph)).toThrow(/initializers hold 2147483648 bytes, expected at most 2 GB/);
  });
});
