import { ArgumentError } from '@rlp/core';
import { Graph, serialize } from '@rlp/onnx';
import { fullLayout } from '@rlp/onnx/layers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';

import { parseModelConfig } from '../config/parse-config.ts';
import { ropeFrequencies, ropeTables, ropeValues } from './rope.ts';
import { trainingBlocks } from './training-blocks.ts';

const llama = {
  model_type: 'llama',
  vocab_size: 8,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
};

describe('rotary tables', () => {
  it('hold cosine and sine of position times frequency', () => {
    const { shape, cos, sin } = ropeTables(parseModelConfig(llama), 3);
    expect(shape).toEqual([3, 2]);
    expect(cos[0]).toBe(1);
    expect(cos[4]).toBeCloseTo(Math.cos(2), 6);
    expect(sin[5]).toBeCloseTo(Math.sin(2 * 10_000 ** -0.5), 6);
  });

  // Frequencies and attention factor by transformers 4.57.6, ROPE_INIT_FUNCTIONS on a LlamaConfig with heads of 16.
  it.each([
    [
      { rope_type: 'linear', factor: 4 },
      [0.25, 0.07905694, 0.025, 0.007905695, 0.0025, 0.0007905695, 0.00025, 7.905695e-5],
      1,
    ],
    [
      { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
      [1, 0.2443846, 0.01304226, 0.003952847, 0.00125, 0.0003952847, 0.000125, 3.952847e-5],
      1,
    ],
    [
      { rope_type: 'yarn', factor: 4 },
      [1, 0.2371708, 0.05, 0.007905695, 0.0025, 0.0007905695, 0.00025, 7.905695e-5],
      1.138629436111989,
    ],
    [
      {
        rope_type: 'yarn',
        factor: 4,
        beta_fast: 8,
        beta_slow: 2,
        truncate: false,
        mscale: 1,
        mscale_all_dim: 0.5,
      },
      [1, 0.1605892, 0.025, 0.007905695, 0.0025, 0.0007905695, 0.00025, 7.905695e-5],
      1.0648216253695715,
    ],
  ])('stretch frequencies by %j as transformers does', (fields, expected, attentionFactor) => {
    const config = parseModelConfig({
      ...llama,
      head_dim: 16,
      rope_scaling: { ...fields, original_max_position_embeddings: 64 },
    });
    const { position } = config;
    if (position.type !== 'rotary') throw new Error('expected rotary positions');
    const frequencies = ropeFrequencies(position.theta, position.scaling, 16);
    for (const [i, frequency] of expected.entries()) {
      expect(Math.abs(frequencies[i]! / frequency - 1)).toBeLessThan(2e-6);
    }
    expect(ropeTables(config, 1).cos[0]).toBeCloseTo(attentionFactor, 6);
  });

  it("stop YaRN's ramp at the last dimension, as transformers does", () => {
    // transformers 4.57.6, theta 10, heads of 8, original context 512: the ramp would end at 8 and is cut to 7.
    const scaling = {
      type: 'yarn',
      factor: 4,
      originalContextLength: 512,
      attentionFactor: 1,
      betaFast: 32,
      betaSlow: 1,
      truncate: 'integer',
    } as const;
    const expected = [1, 0.562341332, 0.276699305, 0.133370951];
    for (const [i, frequency] of ropeFrequencies(10, scaling, 8).entries()) {
      expect(Math.abs(frequency / expected[i]! - 1)).toBeLessThan(1e-7);
    }
  });

  it('are the same bits when a graph computes them for a length known at run time', async () => {
    const config = parseModelConfig({
      ...llama,
      head_dim: 16,
      rope_scaling: { rope_type: 'yarn', factor: 4 },
    });
    const graph = new Graph();
    graph.input('tokens', 'int64', ['time']);
    for (const [name, value] of Object.entries(ropeValues(graph, config, 'time'))) graph.output(name, value);
    const session = await InferenceSession.create(serialize(graph, { unusedInputs: 'keep' }), {
      intraOpNumThreads: 1,
    });
    const tables = ropeTables(config, 3000);
    const { cos, sin } = await session.run({ tokens: new Tensor('int64', new BigInt64Array(3000), [3000]) });
    expect([cos!.dims, cos!.data, sin!.data]).toEqual([tables.shape, tables.cos, tables.sin]);
  });

  it('are nearly the same without float64, up to the end of the context', async () => {
    const config = parseModelConfig({ ...llama, max_position_embeddings: 3000 });
    const graph = new Graph();
    graph.input('tokens', 'int64', ['time']);
    for (const [name, value] of Object.entries(ropeValues(graph, config, 'time', { ops: 'portable' }))) {
      graph.output(name, value);
    }
    const session = await InferenceSession.create(serialize(graph, { unusedInputs: 'keep' }));
    const tables = ropeTables(config, 3000);
    const found = await session.run({ tokens: new Tensor('int64', new BigInt64Array(3000), [3000]) });
    for (const name of ['cos', 'sin'] as const) {
      const data = found[name]!.data as Float32Array;
      const worst = data.reduce((most, value, at) => Math.max(most, Math.abs(value - tables[name][at]!)), 0);
      expect(data).toHaveLength(tables[name].length);
      expect(worst).toBeLessThan(3e-7);
    }
  });

  it('are refused where positions are learned', () => {
    const gpt2 = parseModelConfig({ model_type: 'gpt2', vocab_size: 8, n_embd: 8, n_layer: 1, n_head: 2 });
    expect(() => ropeTables(gpt2, 4)).toThrow(ArgumentError);
  });
});

describe('trainingBlocks', () => {
  const graph = new Graph();
  const blocks = (json: Record<string, unknown>, time: number) => () =>
    trainingBlocks({
      graph,
      config: parseModelConfig({ ...llama, ...json }),
      layout: fullLayout(graph, 1, time),
      parameter: () => {
        throw new Error('not asked for');
      },
    });

  it('refuse sequences beyond the context', () => {
    expect(blocks({ max_position_embeddings: 16 }, 17)).toThrow('17 tokens do not fit the context of 16');
  });
});
