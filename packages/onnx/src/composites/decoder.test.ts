import { describe, expect, it } from 'vitest';

import * as onnx from '../index.ts';
import * as layers from '../layers.ts';
import * as ops from '../ops.ts';
import { load, type Numbers, normals, relativeError } from '../testing/evaluate.ts';

const size = { batch: 2, time: 5, width: 8, heads: 4, keyHeads: 2, headSize: 2, inner: 6, vocabulary: 11 };
const depth = 2;
const epsilon = 1e-5;

const shapes: Readonly<Record<string, readonly number[]>> = {
  embedding: [size.vocabulary, size.width],
  norm: [size.width],
  ...Object.fromEntries(
    Array.from({ length: depth }, (_, layer) => [
      [`${layer}.norm1`, [size.width]],
      [`${layer}.q`, [size.heads * size.headSize, size.width]],
      [`${layer}.k`, [size.keyHeads * size.headSize, size.width]],
      [`${layer}.v`, [size.keyHeads * size.headSize, size.width]],
      [`${layer}.o`, [size.width, size.heads * size.headSize]],
      [`${layer}.norm2`, [size.width]],
      [`${layer}.gate`, [size.inner, size.width]],
      [`${layer}.up`, [size.inner, size.width]],
      [`${layer}.down`, [size.width, size.inner]],
    ]).flat(),
  ),
};

interface Variant {
  readonly ops: layers.OperatorSet;
  readonly type?: onnx.DataType;
  readonly activations?: 'kept' | 'recomputed';
  /** Named instead of numbers, as graphs for any batch and length have them. */
  readonly dimensions?: 'symbolic';
}

type Weights = Readonly<Record<string, onnx.Value>>;

function angles(graph: onnx.Graph, type: onnx.DataType, f: (angle: number) => number): onnx.Value {
  return graph.constant(
    Array.from({ length: 8 }, (_, position) => f(position * 0.3)),
    [8, 1],
    type,
  );
}

function attentionPart(x: onnx.Value, weights: Weights, layer: number, variant: Variant): onnx.Value {
  const { graph, type } = x;
  const [batch, time] = variant.dimensions ? ['batch', 'time'] : [size.batch, size.time];
  const rotated = (weight: string, heads: number) => {
    const projected = ops.linear(x, weights[weight]!);
    const tables = { cos: angles(graph, type, Math.cos), sin: angles(graph, type, Math.sin) };
    const rows = ops.reshape(projected, [batch!, time!, -1]);
    const turned = layers.rotaryEmbedding(rows, { ...tables, heads, ops: variant.ops });
    return layers.splitHeads(turned, { batch: batch!, time: time!, heads });
  };
  const value = layers.splitHeads(ops.linear(x, weights[`${layer}.v`]!), {
    batch: batch!,
    time: time!,
    heads: size.keyHeads,
  });
  const mask = variant.dimensions ? graph.inputs.find(({ name }) => name === 'mask') : undefined;
  const y = layers.attention(rotated(`${layer}.q`, size.heads), rotated(`${layer}.k`, size.keyHeads), value, {
    ops: variant.ops,
    mask,
  });
  return ops.linear(layers.mergeHeads(y), weights[`${layer}.o`]!);
}

function block(x: onnx.Value, weights: Weights, layer: number, variant: Variant): onnx.Value {
  const options = { epsilon, ops: variant.ops };
  const attended = ops.add(
    x,
    attentionPart(layers.rmsNorm(x, weights[`${layer}.norm1`]!, options), weights, layer, variant),
  );
  const normal = layers.rmsNorm(attended, weights[`${layer}.norm2`]!, options);
  const inner = layers.swiglu(
    ops.linear(normal, weights[`${layer}.gate`]!),
    ops.linear(normal, weights[`${layer}.up`]!),
    options,
  );
  return ops.add(attended, ops.linear(inner, weights[`${layer}.down`]!));
}

function decoder(variant: Variant): onnx.Graph {
  const { type = 'float32', activations = 'kept' } = variant;
  const graph = new onnx.Graph();
  const [batch, time] = variant.dimensions ? ['batch', 'time'] : [size.batch, size.time];
  const tokens = graph.input('tokens', 'int64', [batch!, time!]);
  const targets = graph.input('targets', 'int64', [onnx.productDimension([batch!, time!])]);
  if (variant.dimensions) graph.input('mask', type, ['time', 'time']);
  const weights = Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, graph.input(name, type, shape)]),
  );
  let hidden = ops.reshape(layers.embedding(weights.embedding!, tokens), [-1, size.width]);
  for (let layer = 0; layer < depth; layer++) {
    const build = (x: onnx.Value) => block(x, weights, layer, variant);
    hidden = activations === 'kept' ? build(hidden) : onnx.recompute([hidden], ([x]) => [build(x!)])[0];
  }
  hidden = layers.rmsNorm(hidden, weights.norm!, { epsilon, ops: variant.ops });
  const options = { temperature: 0.9, entropies: 'needed' } as const;
  const { logprobs, entropies } = layers.tokenLogprobs(hidden, weights.embedding!, targets, options);
  const loss = ops.neg(ops.mean(ops.add(logprobs, ops.mul(entropies!, 0.1))));
  graph.output('loss', loss);
  graph.output('logprobs', logprobs);
  const found = onnx.gradients(loss, Object.values(weights));
  for (const [index, name] of Object.keys(weights).entries()) graph.output(`d.${name}`, found[index]!);
  return graph;
}

const count = size.batch * size.time;
const feeds: Readonly<Record<string, Numbers>> = {
  ...Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [
      name,
      normals(name, shape, name.includes('norm') ? 1 : 0.5),
    ]),
  ),
  tokens: { shape: [size.batch, size.time], data: [3, 3, 1, 10, 3, 0, 3, 7, 1, 3] },
  targets: { shape: [count], data: [3, 1, 10, 3, 3, 3, 7, 1, 3, 5] },
  mask: {
    shape: [size.time, size.time],
    data: Array.from({ length: size.time ** 2 }, (_, at) =>
      at % size.time <= Math.floor(at / size.time) ? 0 : -1e30,
    ),
  },
};

async function evaluate(variant: Variant): Promise<Record<string, Numbers>> {
  return (await load(decoder(variant))).run(feeds);
}

describe('a decoder with grouped queries and a tied head', () => {
  it.each<[string, Variant]>([
    ['fused operators', { ops: 'fused' }],
    ['standard operators', { ops: 'standard' }],
    ['recomputed activations', { ops: 'fused', activations: 'recomputed' }],
    ['symbolic batch and length', { ops: 'fused', dimensions: 'symbolic' }],
    [
      'symbolic dimensions, standard operators, recomputed',
      { ops: 'standard', dimensions: 'symbolic', activations: 'recomputed' },
    ],
  ])('has with %s the loss and every gradient it has in float64', async (_, variant) => {
    const expected = await evaluate({ ops: 'standard', type: 'float64' });
    const actual = await evaluate(variant);
    expect(Object.keys(actual).sort()).toEqual(Object.keys(expected).sort());
    for (const [name, tensor] of Object.entries(expected)) {
      expect(Math.max(...tensor.data.map(Math.abs)), name).toBeGreaterThan(1e-4);
      expect(relativeError(actual[name]!, tensor), name).toBeLessThan(5e-6);
    }
  });

  it('keeps to operators of the ONNX standard where asked', () => {
    const domains = decoder({ ops: 'standard' }).nodes.map(({ definition }) => definition.domain ?? '');
    expect(new Set(domains)).toEqual(new Set(['']));
    const types = decoder({ ops: 'standard' }).nodes.map(({ definition }) => definition.type);
    expect(types).not.toContain('SimplifiedLayerNormalization');
  });
});
