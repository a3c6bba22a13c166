import { ArgumentError, RandomStream } from '@rlp/core';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';

import * as onnx from '../index.ts';
import * as layers from '../layers.ts';
import * as ops from '../ops.ts';
import { load, normals, relativeError } from '../testing/evaluate.ts';

describe('embedding', () => {
  it('adds up heavily duplicated ids exactly, run after run on two threads', async () => {
    const [vocabulary, width, count] = [16, 32, 4096];
    const graph = new onnx.Graph();
    const weight = graph.input('weight', 'float32', [vocabulary, width]);
    const ids = graph.input('ids', 'int64', [count]);
    const upstream = graph.input('upstream', 'float32', [count, width]);
    const loss = ops.sum(ops.mul(layers.embedding(weight, ids), upstream));
    graph.output('gradient', onnx.gradients(loss, [weight])[0]!);
    const session = await InferenceSession.create(onnx.serialize(graph), { intraOpNumThreads: 2 });
    const stream = RandomStream.named('duplicates');
    const chosen = Array.from({ length: count }, () => stream.integer(vocabulary));
    // Small integers, so that float32 sums are exact in any order.
    const rows = Float32Array.from({ length: count * width }, () => stream.integer(64) - 32);
    const expected = new Float32Array(vocabulary * width);
    for (const [row, id] of chosen.entries()) {
      for (let column = 0; column < width; column++)
        expected[id * width + column]! += rows[row * width + column]!;
    }
    const tensors = {
      ids: new Tensor('int64', BigInt64Array.from(chosen, BigInt), [count]),
      upstream: new Tensor('float32', rows, [count, width]),
    };
    for (let repetition = 0; repetition < 20; repetition++) {
      const { gradient } = await session.run(tensors);
      expect(gradient!.data).toEqual(expected);
    }
  });

  it('gives row gradients that make up the dense one', async () => {
    const graph = new onnx.Graph();
    const weight = graph.input('weight', 'float32', [5, 3]);
    const ids = graph.constant([4, 0, 4], [3], 'int64');
    const dense = ops.sum(ops.exp(layers.embedding(weight, ids)));
    const rows = layers.embedding(weight, ids, { gradient: 'rows' });
    const [rowGradient, none] = onnx.gradients(ops.sum(ops.exp(rows)), [rows, weight]);
    graph.output('dense', onnx.gradients(dense, [weight])[0]!);
    graph.output('rows', rowGradient!);
    graph.output('none', none!);
    const result = await (await load(graph)).run({ weight: normals('weight', [5, 3]) });
    const sums = new Array<number>(15).fill(0);
    for (const [row, id] of [4, 0, 4].entries()) {
      for (let column = 0; column < 3; column++)
        sums[id * 3 + column]! += result.rows!.data[row * 3 + column]!;
    }
    expect(result.none!.data).toEqual(new Array(15).fill(0));
    expect(relativeError(result.dense!, { shape: [5, 3], data: sums })).toBeLessThan(1e-6);
  });

  it('names what it expects', () => {
    const graph = new onnx.Graph();
    const weight = graph.input('weight', 'float32', [5]);
    expect(() => layers.embedding(weight, graph.constant([0], [1], 'int64'))).toThrow(
      new ArgumentError('embedding: weight must be [vocabulary, width], got [5]'),
    );
  });
});

describe('tokenLogprobs', () => {
  const width = 3;
  const [hidden, head] = [normals('hidden', [4, width]), normals('head', [5, width])];
  const ids = [4, 0, 4, 2];

  it('gives row gradients that, scattered, complete the gradient of the head', async () => {
    const graph = new onnx.Graph();
    const h = graph.input('h', 'float32', hidden.shape);
    const w = graph.input('w', 'float32', head.shape);
    const targets = graph.constant(ids, [4], 'int64');
    const dense = layers.tokenLogprobs(h, w, targets);
    graph.output('dense', onnx.gradients(ops.sum(dense.logprobs), [w])[0]!);
    const { logprobs, targetRows } = layers.tokenLogprobs(h, w, targets, { gradient: 'rows' });
    const [partial, rows] = onnx.gradients(ops.sum(logprobs), [w, targetRows!]);
    graph.output('partial', partial!);
    graph.output('rows', rows!);
    const result = await (await load(graph)).run({ h: hidden, w: head });
    const total = [...result.partial!.data];
    for (const [row, id] of ids.entries()) {
      for (let column = 0; column < width; column++) {
        total[id * width + column]! += result.rows!.data[row * width + column]!;
      }
    }
    expect(dense.targetRows).toBeUndefined();
    expect(relativeError({ shape: head.shape, data: total }, result.dense!)).toBeLessThan(1e-6);
  });

  it.each([1, 1e5])('gives the same in blocks, for logits about %d', async (factor) => {
    const graph = new onnx.Graph();
    const h = graph.input('h', 'float32', hidden.shape);
    const w = graph.input('w', 'float32', head.shape);
    const parts = [
      graph.input('w0', 'float32', [1, width]),
      graph.input('w1', 'float32', [3, width]),
      graph.input('w2', 'float32', [1, width]),
    ];
    const targets = graph.constant(ids, [4], 'int64');
    const options = { temperature: 0.7, entropies: 'needed', gradient: 'rows' } as const;
    const scores = {
      whole: layers.tokenLogprobs(h, w, targets, options),
      blocks: layers.tokenLogprobs(h, w, targets, { ...options, blocks: parts }),
      again: layers.tokenLogprobs(h, w, targets, { ...options, blocks: parts, probabilities: 'again' }),
    };
    for (const [name, { logprobs, entropies, targetRows }] of Object.entries(scores)) {
      const weighted = ops.mul(logprobs, graph.constant([1, -2, 0.5, 3], [4]));
      const loss = ops.sum(ops.add(weighted, ops.mul(entropies!, 0.3)));
      const matrices = name === 'whole' ? [w] : parts;
      const [ofHidden, ofRows, ...ofMatrices] = onnx.gradients(loss, [h, targetRows!, ...matrices]);
      graph.output(`${name} logprobs`, logprobs);
      graph.output(`${name} entropies`, entropies!);
      graph.output(`${name} hidden`, ofHidden!);
      graph.output(`${name} rows`, ofRows!);
      graph.output(`${name} weight`, ofMatrices.length > 1 ? ops.concat(ofMatrices, 0) : ofMatrices[0]!);
    }
    const rowsOf = (from: number, to: number) => ({
      shape: [to - from, width],
      data: head.data.slice(from * width, to * width),
    });
    const h0 = { shape: hidden.shape, data: hidden.data.map((value) => value * factor) };
    const feeds = { h: h0, w: head, w0: rowsOf(0, 1), w1: rowsOf(1, 4), w2: rowsOf(4, 5) };
    const result = await (await load(graph)).run(feeds);
    for (const what of ['logprobs', 'entropies', 'hidden', 'rows', 'weight']) {
      const expected = result[`whole ${what}`]!;
      const tolerance = 2e-6 * Math.max(1, ...expected.data.map(Math.abs));
      for (const name of ['blocks', 'again']) {
        const got = result[`${name} ${what}`]!;
        for (const [index, value] of expected.data.entries()) {
          expect(Math.abs(got.data[index]! - value), `${name} ${what}`).toBeLessThan(tolerance);
        }
      }
    }
    expect(Math.max(...result['blocks logprobs']!.data)).toBeLessThanOrEqual(0);
  });

  it.each([1, 1e5])('gives the same with expected rows, for logits about %d', async (factor) => {
    const graph = new onnx.Graph();
    const h = graph.input('h', 'float32', hidden.shape);
    const w = graph.input('w', 'float32', head.shape);
    const parts = [graph.input('w0', 'float32', [2, width]), graph.input('w1', 'float32', [3, width])];
    const targets = graph.constant(ids, [4], 'int64');
    const options = { temperature: 0.7, entropies: 'needed', gradient: 'rows' } as const;
    const scores = {
      whole: layers.tokenLogprobs(h, w, targets, options),
      expected: layers.tokenLogprobs(h, w, targets, { ...options, blocks: parts, probabilities: 'expected' }),
    };
    for (const [name, { logprobs, entropies, targetRows }] of Object.entries(scores)) {
      const loss = ops.sum(ops.mul(logprobs, graph.constant([1, -2, 0.5, 3], [4])));
      const [ofHidden, ofRows] = onnx.gradients(loss, [h, targetRows!]);
      graph.output(`${name} logprobs`, logprobs);
      graph.output(`${name} entropies`, entropies!);
      graph.output(`${name} hidden`, ofHidden!);
      graph.output(`${name} rows`, ofRows!);
    }
    const rowsOf = (from: number, to: number) => ({
      shape: [to - from, width],
      data: head.data.slice(from * width, to * width),
    });
    const h0 = { shape: hidden.shape, data: hidden.data.map((value) => value * factor) };
    const result = await (await load(graph)).run({ h: h0, w: head, w0: rowsOf(0, 2), w1: rowsOf(2, 5) });
    for (const what of ['logprobs', 'entropies', 'hidden', 'rows']) {
      const whole = result[`whole ${what}`]!;
      const tolerance = 2e-6 * Math.max(1, ...whole.data.map(Math.abs));
      for (const [index, value] of whole.data.entries()) {
        expect(Math.abs(result[`expected ${what}`]!.data[index]! - value), what).toBeLessThan(tolerance);
      }
    }
    expect(() => onnx.gradients(ops.sum(scores.expected.logprobs), [parts[0]!])).toThrow("use 'again'");
    expect(() => onnx.gradients(ops.sum(scores.expected.entropies!), [h])).toThrow("use 'again'");
  });

  it('reports entropies without a gradient, and the gradients of logprobs stay', async () => {
    const graph = new onnx.Graph();
    const h = graph.input('h', 'float32', hidden.shape);
    const w = graph.input('w', 'float32', head.shape);
    const parts = [graph.input('w0', 'float32', [2, width]), graph.input('w1', 'float32', [3, width])];
    const targets = graph.constant(ids, [4], 'int64');
    const options = { temperature: 0.7, entropies: 'reported', gradient: 'rows' } as const;
    const scores = {
      needed: layers.tokenLogprobs(h, w, targets, { ...options, entropies: 'needed' }),
      whole: layers.tokenLogprobs(h, w, targets, options),
      blocks: layers.tokenLogprobs(h, w, targets, { ...options, blocks: parts }),
      again: layers.tokenLogprobs(h, w, targets, { ...options, blocks: parts, probabilities: 'again' }),
    };
    for (const [name, { logprobs, entropies, targetRows }] of Object.entries(scores)) {
      const loss = ops.sum(ops.mul(logprobs, graph.constant([1, -2, 0.5, 3], [4])));
      const matrices = name === 'needed' || name === 'whole' ? [w] : parts;
      const found = onnx.gradients(loss, [h, targetRows!, ...matrices]);
      graph.output(name, ops.concat([entropies!, ...found.map((value) => ops.reshape(value, [-1]))], 0));
    }
    const rowsOf = (from: number, to: number) => ({
      shape: [to - from, width],
      data: head.data.slice(from * width, to * width),
    });
    const result = await (await load(graph)).run({ h: hidden, w: head, w0: rowsOf(0, 2), w1: rowsOf(2, 5) });
    for (const name of ['whole', 'blocks', 'again']) {
      for (const [index, value] of result.needed!.data.entries()) {
        expect(Math.abs(result[name]!.data[index]! - value), name).toBeLessThan(5e-6);
      }
    }
    expect(() => onnx.gradients(ops.sum(scores.whole.entropies!), [h])).toThrow("'needed'");
  });

  it('says what is wrong with blocks', () => {
    const graph = new onnx.Graph();
    const h = graph.input('h', 'float32', hidden.shape);
    const w = graph.input('w', 'float32', head.shape);
    const targets = graph.constant(ids, [4], 'int64');
    const blocks = [graph.input('w0', 'float32', [2, width])];
    expect(() => layers.tokenLogprobs(h, w, targets, { blocks })).toThrow("blocks need gradient: 'rows'");
    expect(() => layers.tokenLogprobs(h, w, targets, { probabilities: 'again' })).toThrow('needs blocks');
    expect(() => layers.tokenLogprobs(h, w, targets, { blocks, gradient: 'rows' })).toThrow(
      new ArgumentError('tokenLogprobs: blocks must be the rows of weight [5, 3], got [2, 3]'),
    );
  });

  it('stays finite and non-positive for logits of any size', async () => {
    const graph = new onnx.Graph();
    const h = graph.input('h', 'float32', hidden.shape);
    const w = graph.input('w', 'float32', head.shape);
    const targets = graph.constant(ids, [4], 'int64');
    const { logprobs, entropies } = layers.tokenLogprobs(h, w, targets, { entropies: 'needed' });
    const loss = ops.sum(ops.add(logprobs, entropies!));
    graph.output('logprobs', logprobs);
    graph.output('entropies', entropies!);
    for (const [index, gradient] of onnx.gradients(loss, [h, w]).entries())
      graph.output(`d${index}`, gradient);
    const large = { shape: hidden.shape, data: hidden.data.map((value) => value * 1e6) };
    const result = await (await load(graph)).run({ h: large, w: head });
    expect(Math.max(...result.logprobs!.data)).toBeLessThanOrEqual(0);
    expect(
      Object.values(result)
        .flatMap(({ data }) => data)
        .every(Number.isFinite),
    ).toBe(true);
    expect(Math.min(...result.entropies!.data)).toBeGreaterThanOrEqual(0);
  });

  it('has logits that agree with it', async () => {
    const graph = new onnx.Graph();
    const h = graph.input('h', 'float32', hidden.shape);
    const w = graph.input('w', 'float32', head.shape);
    const targets = graph.constant(ids, [4, 1], 'int64');
    const all = ops.logSoftmax(layers.getLogits(h, w, { temperature: 0.5 }));
    graph.output('chosen', ops.reshape(ops.gatherElements(all, targets), [4]));
    const options = { temperature: graph.constant(0.5) };
    graph.output('logprobs', layers.tokenLogprobs(h, w, ops.reshape(targets, [4]), options).logprobs);
    const { chosen, logprobs } = await (await load(graph)).run({ h: hidden, w: head });
    expect(relativeError(logprobs!, chosen!)).toBeLessThan(1e-6);
  });
});
