import { parseModelConfig } from '@rlp/models';
import { linearLayers, parameterSpecs } from '@rlp/models/decoder';
import { describe, expect, it } from 'vitest';
import type { OptimizerOptions } from '../optimizer/options.ts';
import { countParameters, estimateMemory, type MemoryQuestion } from './estimate-memory.ts';

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
  // Five layers, the backward pass of one, and holes.
  expect(activations('layer') - activations('rms')).toBeCloseTo(1.2 * 4 * 2 * 10 * (5 + 1) * 2 * 64, 5);
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
    expect(table.split('\n')).toHaveLength(11);
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

  it('holds the multiplied matrices in float16 too with mixed precision, where all else stays in float32', () => {
    const of = (change: Partial<MemoryQuestion>) => estimateMemory({ ...question, ...change });
    const halves = (change: Partial<MemoryQuestion>) =>
      of({ ...change, precision: 'mixed' }).activations - of(change).activations;
    // Per layer: four matrices of attention, half as wide for keys and values, and three of the feed-forward block.
    const layers = 2 * 5 * (3 * 64 * 64 + 3 * 64 * 172);
    expect(halves({})).toBe(layers + 2 * 512 * 64);
    expect(halves({ purpose: 'critic' })).toBe(layers);
    expect(of({ precision: 'mixed' }).loading).toBe(of({}).loading);
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
  });

  // On paper, one layer of width 8. A and B of c_attn 8 → 24, c_proj 8 → 8, c_fc 8 → 32, c_proj 32 → 8 have
  // 4·(32 + 16 + 40 + 40) numbers.
  it('counts the factors of layers that GPT-2 fuses', () => {
    const config = parseModelConfig({ model_type: 'gpt2', vocab_size: 9, n_embd: 8, n_layer: 1, n_head: 2 });
    expect(estimateMemory({ config, rows: 1, length: 4, lora: { rank: 4 } }).reference).toBe(4 * 512);
  });

  // Measured with `lab/large-models.ts`, in MiB.
  it.each([
    ['int8', 512, 2392],
    ['int8', 1024, 2853],
    ['int8', 1280, 3224],
    ['int8', 1536, 4372],
    ['int8', 2048, 5325],
    ['nf4', 512, 2477],
    ['nf4', 1024, 2865],
    ['nf4', 2048, 5226],
  ] as const)('is within 4 %% of a step over %s with %i tokens', (base, length, measured) => {
    const question = { rows: 1, length, reference: 'none', lora: { base } } as const;
    const { total, model } = estimateMemory({ config: qwen, ...question });
    expect(model).toBe(0);
    expect(Math.abs(total / 2 ** 20 / measured - 1)).toBeLessThan(0.04);
  });

  // Measured with `lab/large-models.ts load`, in MiB.
  it.each([
    [undefined, 2147],
    [{ base: 'float32' }, 3576],
    [{ base: 'int8' }, 1247],
    [{ base: 'nf4' }, 1069],
  ] as const)('is within 4 %% of the peak until ready, training %j', (lora, measured) => {
    const { loading } = estimateMemory({ config: qwen, rows: 1, length: 512, ...(lora && { lora }) });
    expect(Math.abs(loading / 2 ** 20 / measured - 1)).toBeLessThan(0.04);
  });

  it('keeps no probabilities of long rows, nor logits of tokens that are not trained', () => {
    const { activations } = estimateMemory({ config: qwen, rows: 1, length: 4096 });
    expect(activations).toBeLessThan(8e9);
    const half = estimateMemory({ config: qwen, rows: 1, length: 2048 }).activations;
    expect(activations / half).toBeCloseTo(2, 5);
    const [all, few] = [undefined, 32].map((trained) => estimateMemory({ ...question, trained }).logits);
    expect(few! / all!).toBeCloseTo(1 / 4, 5);
  });

  // Of the small llama: d 64, q 64, kv 32, f 172, 8 heads, 5 layers. Rows of more than 64 tokens are split.
  const around = 2 * 64 + 2 * 64 + 2 * 32 + 2 * 172;
  const keysOfParts = 3 * 32;
  const tokens = 8 * 128;
  const layer = around + keysOfParts + (5 / 8) * 8 * 128;

  it('has the activations, logits and scores that its description says', () => {
    const { model, activations, logits, scoring } = estimateMemory(question);
    expect(model).toBe(4 * countParameters(question.config));
    expect(activations).toBeCloseTo(1.2 * 4 * tokens * (5 + 1) * layer, 0);
    expect(estimateMemory({ ...question, activations: 'recompute' }).activations).toBeCloseTo(
      1.2 * 4 * tokens * (5 * 64 + 2 * layer),
      0,
    );
    expect(logits).toBe(4 * tokens * (512 + 512));
    expect(scoring).toBe(4 * (tokens * 2 * 512 + tokens * 2 * layer));
    const few = estimateMemory({ ...question, trained: 32 });
    expect([few.logits, few.scoring]).toEqual([4 * 256 * 1024, 4 * (256 * 1024 + tokens * 2 * layer)]);
    expect(estimateMemory({ ...question, trained: 999 }).logits).toBe(logits);
  });

  it('has probabilities of short rows, of parts up to 1024 tokens, and of three blocks of longer ones', () => {
    const floats = (length: number) =>
      estimateMemory({ ...question, rows: 1, length }).activations / 1.2 / 4 / length;
    expect(floats(32)).toBeCloseTo(6 * (around + 8 * 32), 5);
    expect(floats(1024)).toBeCloseTo(6 * (around + keysOfParts + (5 / 8) * 8 * 1024), 5);
    expect(floats(1025)).toBeCloseTo(6 * around + 3 * 8 * 205, 5);
  });

  it('is of the largest of the micro-batches that an update is cut into', () => {
    const of = (rows: number, change: Partial<MemoryQuestion> = {}) =>
      estimateMemory({ config: question.config, rows, length: 96, ...change });
    expect(of(64).activations).toBe(of(42).activations);
    expect(of(64).logits).toBe(of(42).logits);
    expect(of(64, { tokensPerMicroBatch: 960 }).activations).toBe(of(10).activations);
    // Wide layers leave the cache with 4096 tokens.
    const wide = llama({
      hidden_size: 512,
      intermediate_size: 1376,
      num_hidden_layers: 8,
      vocab_size: 32_000,
    });
    const dense = (rows: number) => estimateMemory({ config: wide, rows, length: 512 }).total;
    expect(dense(8)).toBe(dense(4));
    expect(dense(4)).toBeGreaterThan(dense(2));
  });

  it('has blocks of a large vocabulary', () => {
    const of = (vocab_size: number) => estimateMemory({ ...question, config: llama({ vocab_size }) });
    const scores = 2 * tokens * layer;
    expect([of(6000).logits, of(6000).scoring]).toEqual([
      4 * tokens * (6000 + 2048),
      4 * (tokens * 4 * 2048 + scores),
    ]);
    expect([of(65_535).logits, of(65_535).scoring]).toEqual([
      4 * tokens * (65_535 + 2048),
      4 * (tokens * 4 * 2048 + scores),
    ]);
    expect(of(65_536).logits).toBe(4 * tokens * 4 * 4096);
    // Blocks alone, unless the correction trains the output matrix.
    const corrected = (modulesToSave: string[]) =>
      estimateMemory({ ...question, config: llama({ vocab_size: 65_535 }), lora: { modulesToSave } }).logits;
    expect(corrected([])).toBe(4 * tokens * 4 * 2048);
    expect(corrected(['lm_head'])).toBe(of(65_535).logits);
  });

  it('computes every expert for every token', () => {
    const config = llama({
      ...{ model_type: 'qwen3_moe', head_dim: 8, num_experts: 4, num_experts_per_tok: 2 },
      ...{ moe_intermediate_size: 24, norm_topk_prob: true },
    });
    const { activations } = estimateMemory({ ...question, config });
    expect(activations).toBeCloseTo(1.2 * 4 * tokens * 6 * (layer - 2 * 172 + 2 * 4 * 24), 0);
  });

  describe('of a correction', () => {
    const layers = linearLayers(question.config);
    const largest = Math.max(...layers.map(({ inputs, outputs }) => inputs * outputs));
    const inputs = layers.reduce((sum, each) => sum + each.inputs, 0);
    const outputs = layers.reduce((sum, each) => sum + each.outputs, 0);
    const held = (lora: MemoryQuestion['lora'], change: Partial<MemoryQuestion> = {}) =>
      estimateMemory({ ...question, lora, ...change }).activations;
    const keep = 4 * tokens * 6 * layer * 1.15;
    const again = 4 * tokens * (5 * 64 + 2 * layer) * 1.15;
    const recompute = { activations: 'recompute' } as const;

    it('leaves holes, and holds matrices that are made of stored ones', () => {
      expect(held({})).toBeCloseTo(keep, 0);
      expect(held({ base: 'int8' })).toBeCloseTo(keep + 4 * largest, 0);
      expect(held({ base: 'nf4' })).toBeCloseTo((keep * 1.3) / 1.15 + 3.5 * 4 * largest, 0);
    });

    it('keeps outputs for DoRA, of one layer if they are computed again', () => {
      expect(held({ variant: 'dora' })).toBeCloseTo(keep + 4 * tokens * outputs + 4 * largest, 0);
      expect(held({ variant: 'dora' }, recompute)).toBeCloseTo(
        again + (4 * tokens * outputs) / 5 + 4 * largest,
        0,
      );
    });

    it('keeps masks of dropout, and inputs, of one layer if they are computed again', () => {
      expect(held({ dropout: 0.1 })).toBeCloseTo(keep + tokens * (inputs + 4 * inputs), 0);
      expect(held({ dropout: 0.1 }, recompute)).toBeCloseTo(again + tokens * (inputs + (4 * inputs) / 5), 0);
    });

    it('trains its factors and the modules that are named, which have none', () => {
      const linear = layers.reduce((sum, each) => sum + each.inputs * each.outputs, 0);
      const factors = layers.reduce((sum, each) => sum + 8 * (each.inputs + each.outputs), 0);
      const { gradients, weights, optimizer } = estimateMemory({ ...question, lora: {} });
      expect(gradients).toBe(4 * factors);
      expect(optimizer).toBe(8 * factors);
      expect(weights).toBe(4 * (countParameters(question.config) + linear + factors));
      const [first] = layers;
      const module = first!.weight.replace(/\.weight$/, '');
      const whole = estimateMemory({ ...question, lora: { modulesToSave: [module] } });
      const own = first!.inputs * first!.outputs - 8 * (first!.inputs + first!.outputs);
      expect(whole.gradients).toBe(4 * (factors + own));
    });
  });

  it.each([null, 'a config', undefined, { model_type: 'llama' }])('refuses %s for a config', (config) => {
    expect(() => estimateMemory({ ...question, config: config as never })).toThrow(
      "config: expected a model's config, from loadModel or parseModelConfig",
    );
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %s rows', (rows) => {
    expect(() => estimateMemory({ ...question, rows })).toThrow(/estimateMemory: .*\n.*- rows: /);
  });

  it('refuses fields that it does not know', () => {
    const wrong = { ...question, adaptation: { kind: 'lora', rank: 4 } };
    expect(() => estimateMemory(wrong)).toThrow('Unrecognized option "adaptation"');
  });

  it.each([
    [{ lora: { variant: 'dora', base: 'int8' } }, "lora.variant: 'dora' needs base 'float32'"],
    [{ lora: { variant: 'dora', dropout: 0.1 } }, "lora.dropout: is not combined with variant 'dora'"],
    [{ lora: { base: 'nf4' }, precision: 'mixed' }, "'mixed' is not combined with base 'nf4' of lora"],
  ] as const)('refuses %j, as the backend does', (options, message) => {
    expect(() => estimateMemory({ config: llama({}), rows: 1, length: 8, ...options })).toThrow(message);
  });
});
