import { describe, expect, it } from 'vitest';

import * as onnx from '../index.ts';
import * as ops from '../ops.ts';
import { load, normals, relativeError } from '../testing/evaluate.ts';

/** Loss and gradient of a small function of two inputs, with constants, an attribute tensor and a named dimension. */
function part(): onnx.Graph {
  const graph = new onnx.Graph();
  const x = graph.input('x', 'float32', ['rows', 3]);
  const y = graph.input('y', 'float32', ['rows', 3]);
  const picked = ops.where(ops.greater(x, 0.25), ops.mul(x, y), ops.expand(graph.constant([2]), ['rows', 3]));
  const loss = ops.sum(ops.square(picked));
  graph.output('loss', loss);
  const found = onnx.pullback(new Map([[loss, graph.constant(1)]]), [x]);
  graph.output('dx', found[0]!);
  return graph;
}

describe('a recorded graph', () => {
  it('can be sent, and computes in another graph what it computed in its own', async () => {
    const whole = part();
    const feeds = { x: normals('x', [4, 3]), y: normals('y', [4, 3]) };
    const expected = await (await load(whole)).run(feeds);
    const record = structuredClone(onnx.recordGraph(whole));
    const graph = new onnx.Graph();
    const x = graph.input('x', 'float32', ['rows', 3]);
    const y = graph.input('y', 'float32', ['rows', 3]);
    const found = onnx.replayGraph(graph, record, { x: ops.mul(x, 1), y });
    for (const [name, value] of found) graph.output(name, value);
    const actual = await (await load(graph)).run(feeds);
    expect(Object.keys(actual)).toEqual(['loss', 'dx']);
    for (const [name, tensor] of Object.entries(expected)) {
      expect(relativeError(actual[name]!, tensor)).toBeLessThan(1e-6);
    }
  });

  it('continues a gradient that was recorded', async () => {
    const [wholeGraph, split] = [new onnx.Graph(), new onnx.Graph()];
    const inputs = (graph: onnx.Graph) => {
      const w = graph.input('w', 'float32', ['rows', 3]);
      return { w, x: ops.exp(w), y: ops.sin(w) };
    };
    const whole = inputs(wholeGraph);
    const picked = ops.where(
      ops.greater(whole.x, 0.25),
      ops.mul(whole.x, whole.y),
      ops.expand(wholeGraph.constant([2]), ['rows', 3]),
    );
    const loss = ops.sum(ops.square(picked));
    const expected = onnx.pullback(new Map([[loss, wholeGraph.constant(1)]]), [whole.x])[0]!;
    wholeGraph.output('dw', onnx.pullback(new Map([[whole.x, expected]]), [whole.w])[0]!);
    const { w, x, y } = inputs(split);
    const found = onnx.replayGraph(split, onnx.recordGraph(part()), { x, y });
    split.output('dw', onnx.pullback(new Map([[x, found.get('dx')!]]), [w])[0]!);
    const feeds = { w: normals('w', [2, 3]) };
    const [one, other] = await Promise.all([wholeGraph, split].map(async (g) => (await load(g)).run(feeds)));
    expect(relativeError(other!.dw!, one!.dw!)).toBeLessThan(1e-6);
  });

  it('names an input that is missing or does not fit, and a tensor that lies in a file', () => {
    const record = onnx.recordGraph(part());
    const graph = new onnx.Graph();
    const x = graph.input('x', 'float32', ['rows', 3]);
    expect(() => onnx.replayGraph(graph, record, { x })).toThrow(
      'replayGraph: input "y" must be float32 [rows, 3], got nothing',
    );
    expect(() => onnx.replayGraph(graph, record, { x, y: ops.cast(x, 'int64') })).toThrow(
      'replayGraph: input "y" must be float32 [rows, 3], got int64 [rows, 3]',
    );
    expect(() => onnx.replayGraph(new onnx.Graph({ opset: 20 }), record, { x })).toThrow(
      'replayGraph: the graph has opset 20, the record 21',
    );
    const filed = new onnx.Graph();
    filed.initializer('w', 'float32', [1], { file: 'w.safetensors', offset: 0, length: 4 });
    expect(() => onnx.recordGraph(filed)).toThrow('recordGraph: initializer "w" lies in a file');
  });
});

describe('pullback', () => {
  it('adds up what comes from several values, and leaves out what nothing depends on', async () => {
    const graph = new onnx.Graph();
    const [x, free, gx, gy] = ['x', 'free', 'gx', 'gy'].map((name) => graph.input(name, 'float32', [2]));
    const [a, b] = [ops.mul(x!, 3), ops.mul(x!, 5)];
    const upstream = new Map([
      [a, gx!],
      [b, gy!],
    ]);
    const [found, none] = onnx.pullback(upstream, [x!, free!]);
    expect(none).toBeUndefined();
    graph.output('dx', found!);
    const feeds = { gx: normals('gx', [2]), gy: normals('gy', [2]) };
    const { dx } = await (await load(graph)).run(feeds);
    const expected = [0, 1].map((i) => 3 * feeds.gx.data[i]! + 5 * feeds.gy.data[i]!);
    expect([...dx!.data].map(Number)).toEqual(expected.map((value) => expect.closeTo(value, 5)));
    expect(onnx.pullback(new Map(), [x!])).toEqual([undefined]);
    expect(() => onnx.pullback(new Map([[a, ops.reshape(gx!, [2, 1])]]), [x!])).toThrow(
      'gradients: upstream must be float32 [2], got float32 [2, 1]',
    );
  });
});
