import { FormatError } from '@rlp/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { positionOf, windowOf } from './model-config.ts';
import { parseModelConfig } from './parse-config.ts';

const llama = {
  model_type: 'llama',
  vocab_size: 64,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
};
const gpt2 = { model_type: 'gpt2', vocab_size: 64, n_embd: 32, n_layer: 2, n_head: 4 };

describe('parseModelConfig', () => {
  it('fills in what a bare Llama config leaves to defaults', () => {
    expect(parseModelConfig(llama)).toMatchObject({
      architecture: 'llama',
      keyValueHeads: 4,
      headDimension: 8,
      contextLength: 2048,
      position: { type: 'rotary', theta: 10_000, scaling: { type: 'none' } },
      norm: { type: 'rms', epsilon: 1e-6 },
      biases: { queryKeyValue: 'none', attentionOutput: 'none', feedForward: 'none' },
      outputHead: 'separate',
      eosIds: [],
    });
  });

  it('takes −1 for no padding token, as the first Llama files have it', () => {
    expect(parseModelConfig({ ...llama, pad_token_id: -1 }).paddingId).toBeUndefined();
  });

  it('knows what sets the families apart', () => {
    expect(parseModelConfig({ ...llama, model_type: 'qwen2', num_key_value_heads: 2 })).toMatchObject({
      biases: { queryKeyValue: 'bias', attentionOutput: 'none' },
      slidingWindow: undefined,
    });
    expect(parseModelConfig({ ...llama, model_type: 'qwen3', num_key_value_heads: 2 })).toMatchObject({
      headDimension: 128,
      queryKeyNorm: 'per-head',
      biases: { queryKeyValue: 'none' },
    });
    expect(parseModelConfig({ ...llama, attention_bias: true, mlp_bias: true })).toMatchObject({
      biases: { queryKeyValue: 'bias', attentionOutput: 'bias', feedForward: 'bias' },
    });
    expect(parseModelConfig(gpt2)).toMatchObject({
      intermediateSize: 128,
      contextLength: 1024,
      position: { type: 'learned' },
      feedForward: { type: 'plain', activation: 'gelu-tanh' },
      outputHead: 'tied',
    });
  });

  it('reads the older and the newer spelling of rotary scaling alike', () => {
    const fields = {
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 256,
    };
    const old = parseModelConfig({
      ...llama,
      rope_theta: 5e5,
      rope_scaling: { rope_type: 'llama3', ...fields },
    });
    const recent = parseModelConfig({
      ...llama,
      rope_parameters: { rope_type: 'llama3', rope_theta: 5e5, ...fields },
    });
    expect(recent.position).toEqual(old.position);
    expect(old.position).toMatchObject({ theta: 5e5, scaling: { type: 'llama3', lowFrequencyFactor: 1 } });
  });

  it('knows which layers have a sliding window', () => {
    const windows = (json: object) => {
      const config = parseModelConfig({ ...llama, num_hidden_layers: 3, ...json });
      return [0, 1, 2].map((layer) => windowOf(config, layer));
    };
    const mistral = { model_type: 'mistral', num_key_value_heads: 2 };
    expect(windows(mistral)).toEqual([4096, 4096, 4096]);
    expect(windows({ ...mistral, sliding_window: null })).toEqual([undefined, undefined, undefined]);
    const qwen2 = { ...mistral, model_type: 'qwen2', sliding_window: 512, max_window_layers: 1 };
    expect(windows(qwen2)).toEqual([undefined, undefined, undefined]);
    const switched = { ...qwen2, use_sliding_window: true };
    expect(windows(switched)).toEqual([undefined, 512, 512]);
    const types = ['sliding_attention', 'full_attention', 'sliding_attention'];
    expect(windows({ ...switched, layer_types: types })).toEqual([512, undefined, 512]);
    expect(() => windows({ ...switched, layer_types: ['full_attention'] })).toThrow('expected 3 entries');
    const moe = { ...switched, model_type: 'qwen3_moe', num_experts: 8 };
    expect(windows({ ...moe, use_sliding_window: false })).toEqual([undefined, undefined, undefined]);
    expect(windows({ ...moe, max_window_layers: 28, layer_types: types })).toEqual([512, 512, 512]);
    const smollm3 = { model_type: 'smollm3', num_key_value_heads: 2, no_rope_layers: [1, 0, 1] };
    const sliding = { ...smollm3, sliding_window: 512, use_sliding_window: true };
    expect(windows(sliding)).toEqual([undefined, 512, undefined]);
  });

  it('knows which layers rotate, and how', () => {
    const positions = (json: object) => {
      const config = parseModelConfig({ ...llama, num_hidden_layers: 6, ...json });
      return Array.from({ length: 6 }, (_, layer) => {
        const position = positionOf(config, layer);
        return position.type === 'rotary' ? position.theta : position.type;
      });
    };
    const smollm3 = { model_type: 'smollm3', num_key_value_heads: 2 };
    expect(positions(smollm3)).toEqual([2e6, 2e6, 2e6, 'none', 2e6, 2e6]);
    expect(() => positions({ ...smollm3, no_rope_layers: [1] })).toThrow(
      'no_rope_layers: expected 6 numbers',
    );
    const gemma = { model_type: 'gemma3_text', num_key_value_heads: 2 };
    expect(positions(gemma)).toEqual([1e4, 1e4, 1e4, 1e4, 1e4, 1e6]);
    const byKind = {
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 5e5 },
        sliding_attention: { rope_type: 'default', rope_theta: 2e4 },
      },
      layer_types: Array.from({ length: 6 }, (_, layer) =>
        layer < 2 ? 'full_attention' : 'sliding_attention',
      ),
    };
    expect(positions({ ...gemma, ...byKind })).toEqual([5e5, 5e5, 2e4, 2e4, 2e4, 2e4]);
  });

  it('keeps a model with a divisor per frequency to the context of pretraining', () => {
    const scaling = { type: 'longrope', short_factor: [1, 1, 1.5, 2], long_factor: [1, 2, 3, 4] };
    const phi3 = { ...llama, model_type: 'phi3', rope_scaling: scaling, max_position_embeddings: 131_072 };
    const config = parseModelConfig(phi3);
    expect(config.contextLength).toBe(4096);
    expect(config.position).toMatchObject({
      scaling: {
        factors: scaling.short_factor,
        attentionFactor: Math.sqrt(1 + Math.log(32) / Math.log(4096)),
      },
    });
    expect(() => parseModelConfig({ ...phi3, rope_scaling: { ...scaling, short_factor: [1] } })).toThrow(
      'rope_scaling.short_factor: expected 4 numbers, one for each frequency, got 1',
    );
  });

  it('prefers the end tokens of generation_config.json', () => {
    const config = { ...llama, bos_token_id: 1, eos_token_id: 2 };
    expect(parseModelConfig(config, 'config.json', { eos_token_id: [1, 2] })).toMatchObject({
      bosId: 1,
      eosIds: [1, 2],
    });
    expect(parseModelConfig(config).eosIds).toEqual([2]);
    expect(() => parseModelConfig(config, 'config.json', { eos_token_id: 'x' })).toThrow(
      'generation_config.json: eos_token_id',
    );
  });

  it.each([
    [{ model_type: 'mamba' }, 'c.json: model_type: "mamba" is not supported; supported: llama, mistral'],
    [{ model_type: 'toString' }, 'is not supported'],
    [{ hidden_size: undefined }, 'c.json: hidden_size'],
    [{ hidden_size: '32' }, 'c.json: hidden_size'],
    [{ num_attention_heads: 0 }, 'c.json: num_attention_heads'],
    [{ num_attention_heads: 5, num_key_value_heads: 5 }, '5 does not divide the hidden size 32'],
    [{ num_key_value_heads: 3 }, '3 does not divide the 4 attention heads'],
    [{ head_dim: 7 }, 'head_dim: rotary encoding needs an even number'],
    [{ hidden_act: 'relu' }, 'c.json: hidden_act'],
    [
      { rope_scaling: { type: 'dynamic', factor: 2 } },
      "'dynamic' is not supported; supported: default, linear",
    ],
    [{ rope_scaling: { type: 'linear' } }, 'rope_scaling.factor'],
    [{ num_hidden_layers: 1e9 }, 'c.json: num_hidden_layers: expected a number of at most'],
    [{ rope_parameters: { full_attention: { rope_theta: 1e6 } } }, 'by kind of layer are not supported'],
    [{ eos_token_id: -1 }, 'eos_token_id: expected a token id or a list of them'],
    [{ rope_scaling: [1] }, 'rope_scaling: expected an object'],
    [{ rope_theta: -1 }, 'rope_theta: expected a number above 1'],
    [{ partial_rotary_factor: 0.5 }, 'partial_rotary_factor'],
    [{ quantization_config: { bits: 4 } }, 'quantised weights are not supported'],
    [
      { model_type: 'qwen3_moe', num_experts: 4, num_key_value_heads: 2 },
      'num_experts_per_tok: 8 is more than the 4 experts',
    ],
    [
      { model_type: 'qwen3_moe', num_local_experts: 5, num_key_value_heads: 2 },
      'num_experts_per_tok: 8 is more than the 5 experts',
    ],
    [{ model_type: 'gemma3_text', final_logit_softcapping: 30 }, 'only null is supported'],
    [{ model_type: 'gemma3_text', layer_types: ['full_attention'] }, 'expected 2 entries'],
  ])('refuses %j', (change, message) => {
    const json = { ...llama, ...change };
    expect(() => parseModelConfig(json, 'c.json')).toThrow(FormatError);
    expect(() => parseModelConfig(json, 'c.json')).toThrow(message);
  });

  it.each([null, 'llama', 7])('refuses %j, which is no object', (json) => {
    expect(() => parseModelConfig(json as never, 'c.json')).toThrow('c.json: file: expected an object, got');
  });

  it('refuses the GPT-2 variants it does not compute', () => {
    expect(() => parseModelConfig({ ...gpt2, scale_attn_by_inverse_layer_idx: true })).toThrow(
      'scale_attn_by_inverse_layer_idx: only false is supported',
    );
    expect(() => parseModelConfig({ ...gpt2, n_head: 5 })).toThrow('5 does not divide the hidden size 32');
  });

  it('never fails with anything but a FormatError', () => {
    const keys = [
      ...Object.keys(llama),
      ...Object.keys(gpt2),
      'rope_scaling',
      'rope_parameters',
      'eos_token_id',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(llama, gpt2),
        fc.constantFrom(...keys),
        fc.jsonValue(),
        (base, key, value) => {
          try {
            parseModelConfig({ ...base, [key]: value });
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError);
          }
        },
      ),
      { numRuns: 250 },
    );
  });
});
