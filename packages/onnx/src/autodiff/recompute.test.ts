import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';

import * as onnx from '../index.ts';
import * as layers from '../layers.ts';
import * as ops from '../ops.ts';
import { load, normals, relativeError } from '../testing/evaluate.ts';

type Block = (x: onnx.Value, weight: onnx.Value) => onnx.Value;

const block: Block = (x, weight) =>
  ops.add(x, ops.tanh(ops.gemm(ops.sigmoid(ops.exp(ops.mul(x, 0.1))), weight)));

const width = 4;

/** Blocks of one weight each, the weights taken from outside by the recomputed part. */
function stack(mode: 'kept' | 'recomputed', depth: number, rows: onnx.Dimension = 2): onnx.Graph {
  const graph = new onnx.Graph();
  const x = graph.input('x', 'float32', [rows, width]);
  const weights = Array.from({ length: depth }, (_, index) =>
    graph.input(`w${index}`, 'float32', [width, width]),
  );
  let hidden = x;
  for (const weight of weights) {
    const input = hidden;
    hidden =
      mode === 'kept'
        ? block(input, weight)
        : onnx.recompute([input], ([gated]) => [block(gated!, weight)])[0];
  }
  const loss = ops.sum(ops.square(hidden));
  graph.output('loss', loss);
  for (const [index, gradient] of onnx.gradients(loss, [x, ...weights]).entries()) {
    graph.output(`d${index}`, gradient);
  }
  return graph;
}

function feedsOf(graph: onnx.Graph, rows: number) {
  return Object.fromEntries(
    graph.inputs.map(({ name, shape }) => [
      name,
      normals(name, name === 'x' ? [rows, width] : (shape as number[]), 0.3),
    ]),
  );
}

/** What ONNX Runtime ran after its own optimisations, in order, and the bytes its arena held at most. */
async function profile(graph: onnx.Graph, rows: number): Promise<{ order: string[]; peak: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'rlp-onnx-'));
  try {
    const session = await InferenceSession.create(onnx.serialize(graph), {
      enableProfiling: true,
      profileFilePrefix: join(folder, 'profile'),
      enableMemPattern: false,
      intraOpNumThreads: 1,
      logSeverityLevel: 3,
    });
    const tensors = Object.entries(feedsOf(graph, rows)).map(([name, { shape, data }]) => [
      name,
      new Tensor('float32', Float32Array.from(data), shape),
    ]);
    await session.run(Object.fromEntries(tensors));
    session.endProfiling();
    const [file] = await readdir(folder);
    const events: { name: string; args: Record<string, string> }[] = JSON.parse(
      await readFile(join(folder, file!), 'utf8'),
    );
    const kernels = events.filter(({ name }) => name.endsWith('_kernel_time'));
    return {
      order: kernels.map(({ args }) => args.op_name!),
      peak: Math.max(...kernels.map(({ args }) => Number(args.mem_bytes_in_use))),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('recompute', () => {
  it.each([2, 'batch'])('gives the same loss and gradients with %s rows', async (rows) => {
    const kept = stack('kept', 3);
    const expected = await (await load(kept)).run(feedsOf(kept, 2));
    const actual = await (await load(stack('recomputed', 3, rows))).run(feedsOf(kept, 2));
    expect(Object.keys(actual)).toEqual(Object.keys(expected));
    for (const [name, tensor] of Object.entries(expected)) {
      expect(relativeError(actual[name]!, tensor)).toBeLessThan(1e-6);
    }
  });

  it('adds up gradients of values passed through, repeated or taken from outside', async () => {
    const gradient = async (wrap: typeof onnx.recompute) => {
      const graph = new onnx.Graph();
      const x = graph.input('x', 'float32', [3]);
      const outside = ops.exp(x);
      const [a, b, c] = wrap([x, x], ([first, second]) => [
        first!,
        ops.mul(ops.mul(first!, second!), outside),
        outside,
      ]);
      const loss = ops.sum(ops.add(ops.square(a), ops.mul(b, c)));
      graph.output('dx', onnx.gradients(loss, [x])[0]!);
      return (await (await load(graph)).run({ x: normals('x', [3]) })).dx!;
    };
    const expected = await gradient((inputs, build) => build(inputs));
    expect(relativeError(await gradient(onnx.recompute), expected)).toBeLessThan(1e-6);
  });

  it('runs every block again, and only after the gradient of the blocks behind it', async () => {
    const kept = await profile(stack('kept', 3), 2);
    expect(kept.order.filter((name) => name === 'Exp')).toHaveLength(3);
    const { order } = await profile(stack('recomputed', 3), 2);
    const runs = [...order.keys()].filter((index) => order[index] === 'Exp');
    expect(runs).toHaveLength(6);
    for (const [from, to] of [runs.slice(2, 4), runs.slice(3, 5), runs.slice(4, 6)]) {
      expect(order.slice(from, to)).toContain('IsNaN');
    }
  });

  it('needs far less memory', async () => {
    const rows = 512;
    const kept = await profile(stack('kept', 8, rows), rows);
    const recomputed = await profile(stack('recomputed', 8, rows), rows);
    expect(recomputed.peak).toBeLessThan(0.6 * kept.peak);
  });
});

describe('rebuild', () => {
  it('gives rules of the operators that read a value another one, made once and only if it is used', () => {
    const graph = new onnx.Graph();
    const x = graph.input('x', 'float32', [2, 3]);
    const y = ops.exp(x);
    let built = 0;
    graph.rebuild(y, () => {
      built += 1;
      return ops.div(1, ops.exp(ops.neg(x)));
    });
    const loss = ops.sum(ops.mul(ops.mul(y, y), y));
    expect(built).toBe(0);
    onnx.gradients(loss, [x]);
    expect(built).toBe(1);
    expect(graph.rebuilt(x)).toBe(x);
  });

  it('keeps two of the four matrices of a gated layer', async () => {
    const [rows, inner] = [256, 64];
    const peak = async (set: 'fused' | 'standard') => {
      const graph = new onnx.Graph();
      const matrix = (name: string, shape: number[]) => graph.input(name, 'float32', shape);
      let hidden = matrix('x', [rows, width]);
      const weights = Array.from({ length: 6 }, (_, layer) => ({
        gate: matrix(`gate${layer}`, [inner, width]),
        up: matrix(`up${layer}`, [inner, width]),
        down: matrix(`down${layer}`, [width, inner]),
      }));
      for (const { gate, up, down } of weights) {
        const opened = layers.swiglu(ops.linear(hidden, gate), ops.linear(hidden, up), { ops: set });
        hidden = ops.linear(opened, down);
      }
      const wrt = weights.flatMap((layer) => Object.values(layer));
      for (const [index, gradient] of onnx.gradients(ops.sum(hidden), wrt).entries()) {
        graph.output(`d${index}`, gradient);
      }
      return (await profile(graph, rows)).peak;
    };
    expect(await peak('fused')).toBeLessThan(0.7 * (await peak('standard')));
  });
});
