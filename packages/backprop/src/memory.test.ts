import { parseModelConfig } from '@rlp/models';
import { linearLayers, parameterSpecs } from '@rlp/models/decoder';
import { describe, expect, it } from 'vitest';
import { countParameters, estimateMemory } from './memory.ts';
import { memoryForecast } from './memory-forecast.ts';
import type { OptimizerOptions } from './optimizer/options.ts';

const llama = (change: Record<string, unknown>) =>
  parseModelConfig({
    model_type: 'llama',
    vocab_size: 512,
    hidden_size: 64,
    intermediate_size: 172,
    num_hidden_layers: 5,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    max_position_embeddings: 512,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
    hidden_act: 'silu',
    ...change,
  });

const qwen = parseModelConfig({
  model_type: 'qwen2',
  vocab_size: 151_936,
  hidden_size: 896,
  intermediate_size: 4864,
  num_hidden_layers: 24,
  num_attention_heads: 14,
  num_key_value_heads: 2,
  max_position_embeddings: 32_768,
  rms_norm_eps: 1e-6,
  tie_word_embeddings: true,
  hidden_act: 'silu',
});

it('counts twice the width more per token and layer with layer norms, which keep their inputs apart', () => {
  const config = llama({});
  const activations = (type: 'rms' | 'layer') => {
    const norm = { ...config.norm, type } as typeof config.norm;
    return estimateMemory({ config: { ...config, norm }, rows: 2, length: 10, reference: 'none' })
      .activations;
  };
  // Five layers, and the backward pass of one.
  expect(activations('layer') - activations('rms')).toBe(4 * 2 * 10 * (5 + 1) * 2 * 64);
});

describe('countParameters', () => {
  it.each([
    ['stories260K', llama({}), 260_032],
    [
      'SmolLM2-135M',
      llama({
        vocab_size: 49152,
        hidden_size: 576,
        intermediate_size: 1536,
        num_hidden_layers: 30,
        num_attention_heads: 9,
        num_key_value_heads: 3,
      }),
      134_515_008,
    ],
    ['Qwen2.5-0.5B', qwen, 494_032_768],
    [
      'GPT-2',
      parseModelConfig({
        model_type: 'gpt2',
        vocab_size: 50_257,
        n_embd: 768,
        n_layer: 12,
        n_head: 12,
        n_positions: 1024,
        n_ctx: 1024,
        activation_function: 'gelu_new',
        layer_norm_epsilon: 1e-5,
      }),
      124_439_808,
    ],
  ])('counts the published number of %s', (_, config, published) => {
    expect(countParameters(config)).toBe(published);
  });
});

describe('estimateMemory', () => {
  it('counts what each optimizer keeps', () => {
    const config = llama({});
    const shapes = parameterSpecs(config).map(({ shape }) => shape);
    const bytes = (optimizer: OptimizerOptions) =>
      estimateMemory({ config, rows: 1, length: 8, optimizer }).optimizer;
    const weights = 4 * countParameters(config);
    expect(bytes({})).toBe(2 * weights);
    expect(bytes({ kind: 'lion' })).toBe(weights);
    expect(bytes({ kind: 'sgd' })).toBe(0);
    const rowsAndColumns = shapes.reduce((sum, shape) => sum + shape.reduce((a, b) => a + b), 0);
    expect(bytes({ kind: 'adafactor' })).toBe(4 * rowsAndColumns);
    const linear = linearLayers(config).reduce((sum, { inputs, outputs }) => sum + inputs * outputs, 0);
    expect(bytes({ kind: 'schedule-free' }) - 3 * weights).toBe(8 * parameterSpecs(config).length);
    expect(bytes({ kind: 'adamw-8bit' })).toBeLessThan(0.35 * 2 * weights);
    expect(bytes({ kind: 'muon' })).toBe(2 * weights - 4 * linear);
  });

  const question = { config: llama({}), rows: 8, length: 128 };

  it('adds up, and prints every part', () => {
    const { total, loading, table, ...parts } = estimateMemory(question);
    expect(loading).toBe(parts.model + parts.weights + parts.runtime);
    expect(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)).toBe(total);
    expect(table.split('\n')).toHaveLength(10);
    expect(table).toMatch(/weights +1\.0 MiB/);
  });

  it('falls with frozen weights in 8 bits, which load as floats', () => {
    const [floats, bytes] = (['float32', 'int8'] as const).map((base) =>
      estimateMemory({ ...question, reference: 'none', lora: { rank: 4, base } }),
    );
    const layers = linearLayers(question.config);
    const linear = layers.reduce((sum, { inputs, outputs }) => sum + inputs * outputs, 0);
    // Whole blocks of 64 bytes and a scale.
    const stored = layers.reduce(
      (sum, { inputs, outputs }) => sum + 68 * outputs * Math.ceil(inputs / 64),
      0,
    );
    const factors = floats!.gradients;
    expect(floats!.weights - bytes!.weights).toBe(8 * linear - stored - factors);
  });

  it('falls with recomputation, low rank and no reference', () => {
    const base = estimateMemory(question);
    expect(estimateMemory({ ...question, activations: 'recompute' }).activations).toBeLessThan(
      base.activations,
    );
    expect(estimateMemory({ ...question, lora: { rank: 4 } }).optimizer).toBeLessThan(base.optimizer / 2);
    expect(estimateMemory({ ...question, reference: 'none' }).reference).toBe(0);
    expect(estimateMemory({ ...question, reference: 'none' }).scoring).toBe(0);
    const critic = estimateMemory({ ...question, purpose: 'critic' });
    expect([critic.logits, critic.scoring]).toEqual([0, 0]);
    expect(estimateMemory({ ...question, microBatches: 'several' }).gradients).toBe(2 * base.gradients);
  });

  // On paper, one layer of width 8. A and B of c_attn 8 → 24, c_proj 8 → 8, c_fc 8 → 32, c_proj 32 → 8 have
  // 4·(32 + 16 + 40 + 40) numbers.
  it('counts the factors of layers that GPT-2 fuses', () => {
    const config = parseModelConfig({ model_type: 'gpt2', vocab_size: 9, n_embd: 8, n_layer: 1, n_head: 2 });
    expect(estimateMemory({ config, rows: 1, length: 4, lora: { rank: 4 } }).reference).toBe(4 * 512);
  });

  it('keeps no probabilities of long rows, nor logits of tokens that are not trained', () => {
    const { activations } = estimateMemory({ config: qwen, rows: 1, length: 4096 });
    expect(activations).toBeLessThan(8e9);
    const half = estimateMemory({ config: qwen, rows: 1, length: 2048 }).activations;
    expect(activations / half).toBeCloseTo(2, 5);
    const [all, few] = [undefined, 32].map((trained) => estimateMemory({ ...question, trained }).logits);
    expect(few! / all!).toBeCloseTo(1 / 4, 5);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %s rows', (rows) => {
    expect(() => estimateMemory({ ...question, rows })).toThrow(/estimateMemory: .*\n.*- rows: /);
  });

  it('refuses fields that it does not know', () => {
    const wrong = { ...question, adaptation: { kind: 'lora', rank: 4 } };
    expect(() => estimateMemory(wrong)).toThrow('Unrecognized option "adaptation"');
  });
});

describe('memoryForecast', () => {
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: 1000,
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    max_position_embeddings: 256,
  });
  const forecastOn = (executionProvider: string, rank?: number, variant: 'lora' | 'dora' = 'lora') =>
    memoryForecast(
      {
        ...{ engine: { executionProvider }, model: { config } },
        ...{ tokensPerMicroBatch: 512, activations: 'keep', reference: 'none' },
      } as never,
      rank === undefined ? undefined : { rank, base: 'float32', variant, dropout: 0 },
    );

  it('is the estimate of the largest micro-batch, without the copy of the model', () => {
    const { bytes, held, available } = forecastOn('cpu')({ sequences: 64, tokens: 100 })!;
    const {
      model: _,
      total: __,
      loading: ____,
      table: ___,
      ...parts
    } = estimateMemory({
      ...{ config, rows: 5, length: 100, reference: 'none', microBatches: 'several' },
    });
    expect(bytes).toEqual(parts);
    expect(held).toBeGreaterThan(2 ** 20);
    expect(available).toBeGreaterThan(2 ** 20);
    const long = forecastOn('cpu')({ sequences: 2, tokens: 9999 })!.bytes;
    const { activations } = estimateMemory({ config, rows: 2, length: 256, reference: 'none' });
    expect(long.activations).toBe(activations);
    expect(forecastOn('cpu', 4)({ sequences: 1, tokens: 1 })!.bytes.gradients).toBeLessThan(
      bytes.gradients! / 8,
    );
  });

  it('counts the outputs that DoRA keeps', () => {
    const activations = (variant: 'lora' | 'dora') =>
      forecastOn('cpu', 4, variant)({ sequences: 1, tokens: 10 })!.bytes.activations!;
    const outputs = 2 * (64 + 64 + 64 + 64 + 128 + 128 + 64);
    expect(activations('dora') - activations('lora')).toBe(4 * (10 * outputs + 64 * 128));
  });

  it('is unknown on other devices', () => {
    expect(forecastOn('cuda')({ sequences: 1, tokens: 1 })).toBeUndefined();
  });
});
