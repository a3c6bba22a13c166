import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import { Graph } from '../graph/graph.ts';
import * as onnx from '../index.ts';
import * as layers from '../layers.ts';
import * as ops from '../ops.ts';
import { load, type Numbers, normals, relativeError } from '../testing/evaluate.ts';

function graphOf(shape: onnx.Shape = [2, 3]) {
  const graph = new Graph();
  return { graph, x: graph.input('x', 'float32', shape), w: graph.input('w', 'float32', shape) };
}

describe('gradients', () => {
  it('adds up all the ways a value takes, and gives zeros where there is none', async () => {
    const { graph, x, w } = graphOf([2]);
    const loss = ops.sum(ops.add(ops.mul(x, 3), ops.mul(x, x)));
    const [dx, dw] = onnx.gradients(loss, [x, w]);
    graph.output('dx', dx!);
    graph.output('dw', dw!);
    const { run } = await load(graph);
    const result = await run({ x: { shape: [2], data: [1, -2] } });
    expect(result).toEqual({ dx: { shape: [2], data: [5, -1] }, dw: { shape: [2], data: [0, 0] } });
  });

  it('makes no nodes for branches that lead to nothing asked for', () => {
    const { graph, x, w } = graphOf();
    const loss = ops.sum(ops.mul(ops.exp(x), w));
    const before = graph.nodes.length;
    onnx.gradients(loss, [w]);
    const made = graph.nodes.slice(before).map(({ definition }) => definition.type);
    expect(made).toEqual(['ConstantOfShape', 'Reshape', 'Expand', 'Mul']);
  });

  it('stops at stopGradient', async () => {
    const { graph, x } = graphOf([2]);
    graph.output('dx', onnx.gradients(ops.sum(ops.mul(x, ops.stopGradient(x))), [x])[0]!);
    const { run } = await load(graph);
    expect((await run({ x: { shape: [2], data: [3, 4] } })).dx!.data).toEqual([3, 4]);
  });

  it('takes intermediate values and an upstream gradient', async () => {
    const { graph, x } = graphOf([2]);
    const middle = ops.mul(x, 2);
    const y = ops.square(middle);
    const found = onnx.gradients(y, [middle, x], { upstream: graph.constant([1, 10]) });
    graph.output('middle', found[0]!);
    graph.output('x1', found[1]!);
    const { run } = await load(graph);
    const result = await run({ x: { shape: [2], data: [1, 2] } });
    expect([result.middle!.data, result.x1!.data]).toEqual([
      [4, 80],
      [8, 160],
    ]);
  });

  it('refuses totals of computed values and of what is given, whose gradients go on to others', () => {
    const { graph, x } = graphOf([2]);
    const middle = ops.mul(x, 2);
    const y = ops.square(middle);
    const one = graph.constant([1, 10]);
    const of = (given: onnx.Value, value: onnx.Value) => () =>
      onnx.pullback(new Map([[given, one]]), [x], new Map([[value, one]]));
    for (const refused of [of(y, middle), of(y, y), of(x, x)]) {
      expect(refused).toThrow('is computed or in upstream and has no total; add to its gradient afterwards');
    }
    expect(of(y, x)()).toHaveLength(1);
  });

  it('adds to totals, from which products start', async () => {
    const graph = new Graph();
    const [x, w, b] = [[3, 2], [4, 2], [4]].map((shape, i) => graph.input('xwb'[i]!, 'float32', shape));
    const y = ops.mul(ops.add(ops.gemm(x!, w!, { transposeB: 'yes' }), b!), b!);
    const totals = new Map(
      [w!, b!].map((v) => [
        v,
        graph.input(
          `${v.name}0`,
          'float32',
          v.shape.map((_, i) => `${v.name}${i}?`),
        ),
      ]),
    );
    const upstream = new Map([[y, graph.constant(normals('g', [3, 4]).data, [3, 4])]]);
    const plain = onnx.pullback(upstream, [w!, b!]);
    const summed = onnx.pullback(upstream, [w!, b!], totals);
    for (const [i, name] of ['w', 'b'].entries()) {
      graph.output(`plain:${name}`, plain[i]!);
      graph.output(`sum:${name}`, summed[i]!);
    }
    expect(summed[0]!.node).toMatchObject({ definition: { type: 'Gemm' }, inputs: { 2: totals.get(w!) } });
    const { run } = await load(graph);
    const inputs = { x: normals('x', [3, 2]), w: normals('w', [4, 2]), b: normals('b', [4]) };
    const add = async (w0: Numbers, b0: Numbers) => {
      const found = await run({ ...inputs, w0, b0 });
      for (const [name, total] of Object.entries({ w: w0, b: b0 })) {
        const { shape, data } = found[`plain:${name}`]!;
        const expected = data.map((part, i) => part + total.data[total.data.length === 1 ? 0 : i]!);
        expect(relativeError(found[`sum:${name}`]!, { shape, data: expected })).toBeLessThan(1e-6);
      }
      return found;
    };
    const first = await add({ shape: [1, 1], data: [0] }, { shape: [1], data: [0] });
    await add(first['sum:w']!, first['sum:b']!);
    expect(() => onnx.pullback(upstream, [w!], [] as never)).toThrow('totals must be a Map of values');
  });

  it('casts with the value, and stops at integers', async () => {
    const { graph, x } = graphOf([2]);
    const whole = ops.cast(ops.cast(x, 'int64'), 'float32');
    const loss = ops.sum(ops.square(ops.cast(ops.add(x, whole), 'float64')));
    const [dx] = onnx.gradients(loss, [x]);
    expect(dx!.type).toBe('float32');
    graph.output('dx', dx!);
    const { run } = await load(graph);
    expect((await run({ x: { shape: [2], data: [1.5, -0.25] } })).dx!.data).toEqual([5, -0.5]);
  });

  it('refuses what it cannot differentiate', () => {
    const { graph, x, w } = graphOf();
    const loss = ops.sum(ops.mul(x, w));
    expect(() => onnx.gradients(x, [x])).toThrow(
      new ArgumentError('gradients: the loss must have one element, got [2, 3]; reduce it or give upstream'),
    );
    expect(() => onnx.gradients(loss, [graph.input('ids', 'int64', [2])])).toThrow(
      new ArgumentError('gradients: "ids" is int64 and carries no gradient; expected float32 or float64'),
    );
    expect(() => onnx.gradients(loss, [x], { upstream: x })).toThrow(/upstream must be float32 \[\]/);
    const [dx] = onnx.gradients(ops.sum(ops.exp(x)), [x]);
    expect(() => onnx.gradients(ops.sum(ops.mul(dx!, dx!)), [x])).toThrow(
      /second derivatives are not supported/,
    );
    expect(() => onnx.gradients(ops.sum(ops.mul(ops.stopGradient(dx!), x)), [x])).not.toThrow();
  });
});

describe('customGradient', () => {
  it('uses the rule given instead of the nodes of the forward part', async () => {
    const { graph, x, w } = graphOf([2]);
    const [y] = onnx.customGradient(
      [x, w],
      () => [ops.mul(ops.exp(x), w)],
      ([upstream], needs) => {
        expect(needs).toEqual([true, false]);
        return [ops.mul(upstream!, 7), undefined];
      },
    );
    graph.output('dx', onnx.gradients(ops.sum(y), [x])[0]!);
    const { run } = await load(graph);
    expect((await run({ x: { shape: [2], data: [3, 4] } })).dx!.data).toEqual([7, 7]);
  });

  it('counts a value passed through once', async () => {
    const { graph, x } = graphOf([2]);
    const [y] = onnx.customGradient(
      [x],
      () => [x],
      ([upstream]) => [upstream],
    );
    graph.output('dx', onnx.gradients(ops.sum(y), [x])[0]!);
    const { run } = await load(graph);
    expect((await run({ x: { shape: [2], data: [3, 4] } })).dx!.data).toEqual([1, 1]);
  });

  it('names the value whose gradient has the wrong shape', () => {
    const { x } = graphOf([2]);
    const [y] = onnx.customGradient(
      [x],
      () => [ops.exp(x)],
      ([upstream]) => [ops.sum(upstream!)],
    );
    expect(() => onnx.gradients(ops.sum(y), [x])).toThrow(
      new ArgumentError('gradients: a rule gave float32 [] as the gradient of "x", which is float32 [2]'),
    );
  });
});

describe('symbolic dimensions', () => {
  const shapes = { x: [4, 3], w: [5, 3], b: [5] } as const;

  /** A layer whose gradients sum over the batch, expand to it, gather along it and reshape with it. */
  function layer(graph: Graph, batch: onnx.Dimension) {
    const x = graph.input('x', 'float32', [batch, 3]);
    const w = graph.input('w', 'float32', shapes.w);
    const b = graph.input('b', 'float32', shapes.b);
    const hidden = ops.tanh(ops.add(ops.matmul(x, ops.transpose(w)), b));
    const normal = layers.rmsNorm(hidden, b, { epsilon: 1e-5 });
    const probabilities = ops.softmax(ops.sub(normal, ops.mean(hidden, { axes: 0 })));
    const scaled = ops.div(ops.sum(probabilities, { axes: 1, keepAxes: 'yes' }), ops.mean(ops.square(x)));
    const loss = ops.mean(ops.mul(ops.mul(probabilities, probabilities), scaled));
    graph.output('loss', loss);
    for (const [index, gradient] of onnx.gradients(loss, [x, w, b]).entries())
      graph.output(`d${index}`, gradient);
    return graph;
  }

  it('gives the gradients of the graph built with the size', async () => {
    const feeds = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [name, normals(name, shape)]),
    );
    const expected = await (await load(layer(new Graph(), 4))).run(feeds);
    const actual = await (await load(layer(new Graph(), 'batch'))).run(feeds);
    for (const [name, tensor] of Object.entries(expected)) {
      expect(relativeError(actual[name]!, tensor)).toBeLessThan(1e-6);
    }
  });

  it('says which dimension must be a number where the gradient needs one', () => {
    const graph = new Graph();
    const a = graph.input('a', 'float32', ['past', 2]);
    const b = graph.input('b', 'float32', [1, 2]);
    const loss = ops.sum(ops.square(ops.concat([a, b], 0)));
    expect(() => onnx.gradients(loss, [b])).toThrow(
      new ArgumentError(
        'concat gradient: dimension "past" of [past, 2] must be a number here; build the graph with its size',
      ),
    );
  });
});
