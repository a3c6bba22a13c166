import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';

import type { Value } from '../graph/graph.ts';
import * as onnx from '../index.ts';
import * as layers from '../layers.ts';
import * as ops from '../ops.ts';
import {
  differentiate,
  finiteDifferences,
  load,
  type Numbers,
  normals,
  relativeError,
} from '../testing/evaluate.ts';
import { normalSoftmax } from './normal-softmax.ts';

/** A composite beside the same function composed from primitive operators. */
interface CompositeCase {
  readonly name: string;
  readonly inputs: readonly Numbers[];
  readonly composite: (set: layers.OperatorSet, ...values: Value[]) => Value;
  readonly composed: (...values: Value[]) => Value;
  /** ONNX Runtime's CPU provider has no float64 kernel for an operator of these. */
  readonly float64?: 'unavailable';
}

const epsilon = 1e-3;
const x = normals('x', [2, 3, 4]);
const weight = normals('weight', [4]);
const bias = normals('bias', [4]);
const targetIds = [1, 4, 1, 0, 1];

function table(value: Value, f: (angle: number) => number): Value {
  const angles = Array.from(
    { length: 12 },
    (_, index) => Math.floor(index / 2) * (index % 2 === 0 ? 1 : 0.1),
  );
  return value.graph.constant(angles.map(f), [6, 2], value.type);
}

function composedRotary(value: Value, positions: readonly number[]): Value {
  const rows = (f: (angle: number) => number) =>
    ops.reshape(ops.gather(table(value, f), value.graph.constant(positions, [2, 3], 'int64')), [2, 3, 1, 2]);
  const [first, second] = ops.split(ops.reshape(value, [2, 3, 2, 4]), [2, 2], -1);
  const [cosine, sine] = [rows(Math.cos), rows(Math.sin)];
  const halves = [
    ops.sub(ops.mul(first!, cosine), ops.mul(second!, sine)),
    ops.add(ops.mul(second!, cosine), ops.mul(first!, sine)),
  ];
  return ops.reshape(ops.concat(halves, -1), [2, 3, 8]);
}

/** Keys repeated for every head, mask spelled out. */
function composedAttention(query: Value, key: Value, value: Value): Value {
  const repeat = (heads: Value) =>
    ops.reshape(ops.expand(ops.unsqueeze(heads, 2), [2, 2, 2, 3, 4]), [2, 4, 3, 4]);
  const mask = query.graph.constant([0, -1e30, -1e30, 0, 0, -1e30, 0, 0, 0], [3, 3], query.type);
  const scores = ops.mul(ops.matmul(query, ops.transpose(repeat(key))), 0.5);
  return ops.matmul(ops.softmax(ops.add(scores, mask)), repeat(value));
}

function targets(value: Value): Value {
  return value.graph.constant(targetIds, [5], 'int64');
}

/** ln π of the targets, and with entropies a second column. */
function composedLogprobs(
  hidden: Value,
  head: Value,
  offset: Value | undefined,
  temperature: number,
): Value[] {
  const logits = ops.matmul(hidden, ops.transpose(head));
  const all = ops.logSoftmax(ops.div(offset ? ops.add(logits, offset) : logits, temperature));
  const chosen = ops.gatherElements(all, ops.reshape(targets(hidden), [5, 1]), { axis: 1 });
  const entropies = ops.neg(ops.sum(ops.mul(ops.exp(all), all), { axes: 1, keepAxes: 'yes' }));
  return [chosen, entropies];
}

/** Tokens that each token sees: two branches of three and two tokens on a stem of one, and another token alone. */
const seenBy = [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 4], [0, 4, 5], [6]];

/** Layout of {@link seenBy} in two rows of six slots. Five of them are empty. */
function packedTrees(graph: onnx.Graph): layers.TokenLayout {
  const integers = (list: number[], shape: number[]) => graph.constant(list, shape, 'int64');
  return {
    slots: integers([0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0], [2, 6]),
    ends: integers([6, 4, 4, 4, 6, 6, 1, 2, 3, 4, 5, 6], [2, 6]),
    places: integers([0, 1, 2, 3, 4, 5, 6], [7]),
    positions: integers([0, 1, 2, 3, 1, 2, 0], [7]),
  };
}

/** Attention of {@link seenBy}, token by token. */
function composedTrees(q: Value, k: Value, v: Value): Value {
  const heads = (x: Value, count: number) => {
    const split = ops.transpose(ops.reshape(x, [1, 7, count, 4]), [0, 2, 1, 3]);
    return count === 4
      ? split
      : ops.reshape(ops.expand(ops.unsqueeze(split, 2), [1, 2, 2, 7, 4]), [1, 4, 7, 4]);
  };
  const mask = seenBy.flatMap((seen) =>
    Array.from({ length: 7 }, (_, key) => (seen.includes(key) ? 0 : -1e30)),
  );
  const scores = ops.mul(ops.matmul(heads(q, 4), ops.transpose(heads(k, 2))), 0.5);
  const masked = ops.add(scores, q.graph.constant(mask, [7, 7], q.type));
  return layers.mergeHeads(ops.matmul(ops.softmax(masked), heads(v, 2)));
}

const cases: readonly CompositeCase[] = [
  {
    name: 'rmsNorm',
    inputs: [x, weight],
    composite: (set, a, w) => layers.rmsNorm(a!, w!, { epsilon, ops: set }),
    composed: (a, w) =>
      ops.mul(
        ops.div(a!, ops.sqrt(ops.add(ops.mean(ops.square(a!), { axes: -1, keepAxes: 'yes' }), epsilon))),
        w!,
      ),
  },
  {
    name: 'layerNorm',
    inputs: [x, weight, bias],
    composite: (set, a, w, b) => layers.layerNorm(a!, w!, b!, { epsilon, ops: set }),
    composed: (a, w, b) => {
      const centered = ops.sub(a!, ops.mean(a!, { axes: -1, keepAxes: 'yes' }));
      const variance = ops.mean(ops.square(centered), { axes: -1, keepAxes: 'yes' });
      return ops.add(ops.mul(ops.div(centered, ops.sqrt(ops.add(variance, epsilon))), w!), b!);
    },
  },
  {
    name: 'rotaryEmbedding from position 0',
    inputs: [normals('x', [2, 3, 8])],
    composite: (set, a) =>
      layers.rotaryEmbedding(a!, { heads: 2, cos: table(a!, Math.cos), sin: table(a!, Math.sin), ops: set }),
    composed: (a) => composedRotary(a!, [0, 1, 2, 0, 1, 2]),
  },
  {
    name: 'rotaryEmbedding at given positions',
    inputs: [normals('x', [2, 3, 8])],
    composite: (set, a) =>
      layers.rotaryEmbedding(a!, {
        heads: 2,
        cos: table(a!, Math.cos),
        sin: table(a!, Math.sin),
        positions: a!.graph.constant([3, 4, 5, 0, 0, 1], [2, 3], 'int64'),
        ops: set,
      }),
    composed: (a) => composedRotary(a!, [3, 4, 5, 0, 0, 1]),
  },
  {
    name: 'attention with grouped queries',
    inputs: [normals('q', [2, 4, 3, 4]), normals('k', [2, 2, 3, 4]), normals('v', [2, 2, 3, 4])],
    composite: (set, q, k, v) => layers.attention(q!, k!, v!, { ops: set }),
    composed: (q, k, v) => composedAttention(q!, k!, v!),
  },
  {
    name: 'attention with grouped queries, merged',
    inputs: [normals('q', [2, 4, 3, 4]), normals('k', [2, 2, 3, 4]), normals('v', [2, 2, 3, 4])],
    composite: (set, q, k, v) => layers.attention(q!, k!, v!, { ops: set, output: 'merged' }),
    composed: (q, k, v) => layers.mergeHeads(composedAttention(q!, k!, v!)),
  },
  {
    name: 'packedAttention of trees with grouped queries',
    inputs: [normals('q', [7, 16]), normals('k', [7, 8]), normals('v', [7, 8])],
    composite: (set, q, k, v) => {
      const layout = packedTrees(q!.graph);
      const [queries, keys] = [layers.headMover(layout, 4), layers.headMover(layout, 2)];
      const mask = ops.cast(layers.layoutMask(layout), q!.type);
      return layers.packedAttention(q!, k!, v!, { queries, keys, mask, ops: set });
    },
    composed: (q, k, v) => composedTrees(q!, k!, v!),
  },
  {
    name: 'blockedAttention of trees with grouped queries',
    inputs: [normals('q', [7, 16]), normals('k', [7, 8]), normals('v', [7, 8])],
    composite: (set, q, k, v) => {
      if (set === 'standard') return composedTrees(q!, k!, v!);
      const { graph } = q!;
      const slots = graph.constant([0, 1, 6, 0, 2, 3, 0, 0, 4, 5, 0, 0], [3, 2, 2], 'int64');
      const places = graph.constant([0, 1, 4, 5, 8, 9, 2], [7], 'int64');
      const layout = { ...packedTrees(graph), blocks: { slots, places } };
      return layers.blockedAttention(layout, 4, 2)(q!, k!, v!, { scale: 0.5 });
    },
    composed: (q, k, v) => composedTrees(q!, k!, v!),
  },
  ...[4, 6].map((parts) => ({
    name: `splitAttention of trees with grouped queries in ${parts} parts`,
    inputs: [normals('q', [7, 16]), normals('k', [7, 8]), normals('v', [7, 8])],
    composite: (_: layers.OperatorSet, ...[q, k, v]: Value[]) => {
      const options = { heads: 4, keyHeads: 2, windows: [undefined] };
      return layers.splitAttention({ ...packedTrees(q!.graph), parts }, options)(q!, k!, v!, { scale: 0.5 });
    },
    composed: (...[q, k, v]: Value[]) => composedTrees(q!, k!, v!),
    float64: 'unavailable' as const,
  })),
  {
    name: 'splitAttention of trees with a window',
    inputs: [normals('q', [7, 16]), normals('k', [7, 8]), normals('v', [7, 8])],
    composite: (_, q, k, v) => {
      const layout = { ...packedTrees(q!.graph), parts: 3 };
      const attend = layers.splitAttention(layout, { heads: 4, keyHeads: 2, windows: [undefined, 2] });
      return attend(q!, k!, v!, { scale: 0.5, window: 2 });
    },
    composed: (q, k, v) => {
      const layout = packedTrees(q!.graph);
      const [queries, keys] = [layers.headMover(layout, 4), layers.headMover(layout, 2)];
      return layers.packedAttention(q!, k!, v!, { queries, keys, mask: layers.layoutMask(layout, 2) });
    },
    float64: 'unavailable',
  },
  {
    name: 'pickRows',
    inputs: [normals('x', [4, 3])],
    composite: (_, a) => {
      const [rows, places] = [
        [3, 0],
        [1, 2, 2, 0],
      ].map((list) => a!.graph.constant(list, [list.length], 'int64'));
      return layers.pickRows(a!, { rows: rows!, places: places! });
    },
    composed: (a) => ops.gather(a!, a!.graph.constant([3, 0], [2], 'int64')),
  },
  {
    name: 'spreadRows',
    inputs: [normals('x', [2, 3])],
    composite: (_, a) => {
      const [rows, places] = [
        [3, 0],
        [1, 2, 2, 0],
      ].map((list) => a!.graph.constant(list, [list.length], 'int64'));
      return layers.spreadRows(a!, { rows: rows!, places: places! });
    },
    composed: (a) => {
      const [first, second] = ops.split(a!, [1, 1], 0);
      return ops.concat([second!, ops.mul(a!, 0), first!], 0);
    },
  },
  {
    name: 'swiglu',
    inputs: [x, normals('up', [2, 3, 4])],
    composite: (set, a, b) => layers.swiglu(a!, b!, { ops: set }),
    composed: (a, b) => ops.mul(ops.mul(a!, ops.sigmoid(a!)), b!),
  },
  {
    name: 'swiglu before a linear layer',
    inputs: [normals('gate', [3, 4]), normals('up', [3, 4]), normals('down', [2, 4])],
    composite: (set, a, b, w) => ops.linear(layers.swiglu(a!, b!, { ops: set }), w!),
    composed: (a, b, w) => ops.matmul(ops.mul(ops.mul(a!, ops.sigmoid(a!)), b!), ops.transpose(w!)),
  },
  {
    name: 'silu',
    inputs: [x],
    composite: (set, a) => layers.silu(a!, { ops: set }),
    composed: (a) => ops.mul(a!, ops.sigmoid(a!)),
  },
  {
    name: 'gelu',
    inputs: [x],
    composite: (set, a) => layers.gelu(a!, { ops: set }),
    composed: (a) => ops.mul(a!, ops.mul(ops.add(ops.erf(ops.mul(a!, Math.SQRT1_2)), 1), 0.5)),
    float64: 'unavailable',
  },
  {
    name: 'gelu approximated by tanh',
    inputs: [x],
    composite: (set, a) => layers.gelu(a!, { approximate: 'tanh', ops: set }),
    composed: (a) => {
      const inner = ops.mul(ops.add(a!, ops.mul(ops.pow(a!, 3), 0.044715)), Math.sqrt(2 / Math.PI));
      return ops.mul(ops.mul(a!, 0.5), ops.add(ops.tanh(inner), 1));
    },
  },
  {
    name: 'embedding',
    inputs: [normals('table', [6, 4])],
    composite: (_, w) => layers.embedding(w!, targets(w!)),
    composed: (w) => {
      const oneHot = targetIds.flatMap((id) => Array.from({ length: 6 }, (_, index) => Number(index === id)));
      return ops.matmul(w!.graph.constant(oneHot, [5, 6], w!.type), w!);
    },
  },
  {
    name: 'tokenLogprobs',
    inputs: [normals('hidden', [5, 4]), normals('head', [6, 4])],
    composite: (_, h, w) => layers.tokenLogprobs(h!, w!, targets(h!)).logprobs,
    composed: (h, w) => ops.reshape(composedLogprobs(h!, w!, undefined, 1)[0]!, [5]),
  },
  {
    name: 'tokenLogprobs with bias, temperature and entropies',
    inputs: [normals('hidden', [5, 4]), normals('head', [6, 4]), normals('bias', [6])],
    composite: (_, h, w, b) => {
      const options = { bias: b!, temperature: 0.7, entropies: 'needed' } as const;
      const { logprobs, entropies } = layers.tokenLogprobs(h!, w!, targets(h!), options);
      return ops.concat([logprobs, entropies!], 0);
    },
    composed: (h, w, b) => ops.reshape(ops.concat(composedLogprobs(h!, w!, b!, 0.7), 0), [10]),
  },
  {
    name: 'entropies alone, at a temperature per row',
    inputs: [normals('hidden', [5, 4]), normals('head', [6, 4]), normals('bias', [6])],
    composite: (_, h, w, b) => {
      const temperature = h!.graph.constant([0.5, 0.5, 0.5, 0.5, 0.5], [5, 1], h!.type);
      const options = { bias: b!, temperature, entropies: 'needed' } as const;
      return layers.tokenLogprobs(h!, w!, targets(h!), options).entropies!;
    },
    composed: (h, w, b) => ops.reshape(composedLogprobs(h!, w!, b!, 0.5)[1]!, [5]),
  },
];

describe.each(cases)('$name', ({ inputs, composite, composed, float64 }) => {
  const build = (set: layers.OperatorSet) => (values: readonly Value[]) => composite(set, ...values);
  const reference = (type: onnx.DataType) =>
    differentiate({ inputs, build: (values) => composed(...values), type });

  it.skipIf(float64)('has the value and gradients of its definition, in float64', async () => {
    const expected = await reference('float64');
    const actual = await differentiate({ inputs, build: build('standard') });
    expect(relativeError(actual.y, expected.y)).toBeLessThan(1e-12);
    const differences = await finiteDifferences(inputs, actual.lossAt);
    for (const [index, gradient] of actual.gradients.entries()) {
      expect(relativeError(gradient, expected.gradients[index]!)).toBeLessThan(1e-11);
      expect(relativeError(gradient, differences[index]!)).toBeLessThan(1e-8);
    }
  });

  it.each(['fused', 'standard'] as const)('agrees with it in float32 from %s operators', async (set) => {
    const expected = await reference(float64 ? 'float32' : 'float64');
    const actual = await differentiate({ inputs, build: build(set), type: 'float32' });
    expect(relativeError(actual.y, expected.y)).toBeLessThan(3e-6);
    for (const [index, gradient] of actual.gradients.entries()) {
      expect(relativeError(gradient, expected.gradients[index]!)).toBeLessThan(3e-6);
    }
  });
});

describe('normalSoftmax', () => {
  it('gives hidden keys probabilities that vanish in sums and are no subnormal numbers', async () => {
    const graph = new onnx.Graph();
    const scores = graph.input('scores', 'float32', [2, 3]);
    for (const set of ['fused', 'portable'] as const) graph.output(set, normalSoftmax(scores, set));
    const evaluator = await load(graph);
    const data = [-30, -1e30, -1e30, 3, 2, -1e30];
    const { fused, portable } = await evaluator.run({ scores: { shape: [2, 3], data } });
    expect(portable!.data).toEqual([1, 0, 0, expect.closeTo(0.731), expect.closeTo(0.269), 0]);
    for (const [key, probability] of portable!.data.entries()) {
      if (probability > 0) expect(fused!.data[key]).toBe(probability);
      else expect(Math.log(fused!.data[key]!)).toBeCloseTo(key < 3 ? -40 : -40 + Math.log(0.731_058), 4);
    }
  });
});

describe.each(['packedAttention', 'blockedAttention', 'splitAttention'])('%s in float32', (name) => {
  it('gives keys that only queries without a gradient see a gradient of exactly 0', async () => {
    const graph = new onnx.Graph();
    const inputs = [normals('q', [7, 16]), normals('k', [7, 8]), normals('v', [7, 8])];
    const [q, k, v] = inputs.map(({ shape }, index) => graph.input(`in${index}`, 'float32', shape));
    const { composite } = cases.find((one) => one.name.startsWith(name))!;
    const y = composite('fused', q!, k!, v!);
    const upstream = Array.from({ length: 7 * 16 }, (_, index) => (index >> 4 === 5 ? 1 : 0));
    const found = onnx.pullback(new Map([[y, graph.constant(upstream, [7, 16])]]), [k!, v!]);
    for (const [index, gradient] of found.entries()) graph.output(`${index}`, gradient!);
    const evaluator = await load(graph);
    const outputs = await evaluator.run(
      Object.fromEntries(inputs.map((input, index) => [`in${index}`, input])),
    );
    for (const { data } of Object.values(outputs)) {
      const sizes = seenBy.map((_, token) => Math.max(...data.slice(8 * token, 8 * token + 8).map(Math.abs)));
      expect(sizes.map((size) => size > 1e-6)).toEqual(sizes.map((_, token) => seenBy[5]!.includes(token)));
      expect(sizes.filter((size) => size > 0)).toHaveLength(3);
    }
  });
});

describe('splitAttention', () => {
  it.each([undefined, 0, 1, 1.5])(
    'refuses %s parts, and names what computes all columns at once',
    (parts) => {
      const layout = { ...packedTrees(new onnx.Graph()), parts };
      expect(() => layers.splitAttention(layout, { heads: 4, keyHeads: 2, windows: [undefined] })).toThrow(
        new ArgumentError(
          `splitAttention: expected a layout with at least 2 parts, got ${parts}; packedAttention computes all columns at once`,
        ),
      );
    },
  );
});

describe('causalMask', () => {
  it.each([{ window: undefined }, { window: 2 }])('is the same for named sizes, %o', async ({ window }) => {
    const graph = new onnx.Graph();
    graph.input('q', 'float32', ['queries']);
    graph.input('k', 'float32', ['keys']);
    graph.output('named', layers.causalMask(graph, { queries: 'queries', keys: 'keys', window }));
    graph.output('square', layers.causalMask(graph, { queries: 'keys', window }));
    graph.output('constant', layers.causalMask(graph, { queries: 3, keys: 5, window }));
    graph.output('squareConstant', layers.causalMask(graph, { queries: 5, window }));
    const evaluator = await load(graph);
    const zeros = (size: number) => ({ shape: [size], data: Array<number>(size).fill(0) });
    const { named, constant, square, squareConstant } = await evaluator.run({ q: zeros(3), k: zeros(5) });
    expect(named).toEqual(constant);
    expect(square).toEqual(squareConstant);
  });
});
