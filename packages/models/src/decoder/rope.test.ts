import { ArgumentError } from '@rlp/core';
import { Graph } from '@rlp/onnx';
import { describe, expect, it } from 'vitest';

import { parseModelConfig } from '../config/parse-config.ts';
import { ropeFrequencies, ropeTables } from './rope.ts';
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

  // By transformers 4.57.6: ROPE_INIT_FUNCTIONS[...](LlamaConfig(hidden_size=32, num_attention_heads=4, ...)).
  it('stretch frequencies as Llama 3 does', () => {
    const scaling = {
      type: 'llama3',
      factor: 8,
      lowFrequencyFactor: 1,
      highFrequencyFactor: 4,
      originalContextLength: 64,
    } as const;
    const turns = ropeFrequencies(10_000, scaling, 8).map((frequency) => frequency);
    expect(turns[0]).toBe(1);
    expect(turns[1]).toBeCloseTo(0.1 * ((1 - 0.0061945) / 8 + 0.0061945), 6);
    expect(turns[2]).toBeCloseTo(0.00125, 9);
  });

  it('are refused where positions are learned', () => {
    const gpt2 = parseModelConfig({ model_type: 'gpt2', vocab_size: 8, n_embd: 8, n_layer: 1, n_head: 2 });
    expect(() => ropeTables(gpt2, 4)).toThrow(ArgumentError);
  });
});

describe('trainingBlocks', () => {
  const blocks = (json: Record<string, unknown>, time: number) => () =>
    trainingBlocks({
      graph: new Graph(),
      config: parseModelConfig({ ...llama, ...json }),
      batch: 1,
      time,
      parameter: () => {
        throw new Error('not asked for');
      },
    });

  it('refuse sequences beyond the context or a sliding window', () => {
    expect(blocks({ max_position_embeddings: 16 }, 17)).toThrow('17 tokens do not fit the context of 16');
    const mistral = { model_type: 'mistral', num_key_value_heads: 2, sliding_window: 8 };
    expect(blocks(mistral, 9)).toThrow('9 tokens do not fit the sliding window of 8');
    expect(blocks(mistral, 8)).not.toThrow();
  });
});
