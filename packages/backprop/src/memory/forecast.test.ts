import type { Loss, TrainingSequence } from '@rlp/core';
import { parseModelConfig } from '@rlp/models';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { layoutCosts } from '../batch/layout-costs.ts';
import { microBatchSizes, packBatch } from '../batch/packing.ts';
import { optimizerSchema } from '../optimizer/options.ts';
import { estimateMemory } from './estimate-memory.ts';
import { memoryForecast } from './forecast.ts';

const config = parseModelConfig({
  model_type: 'llama',
  vocab_size: 1000,
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  max_position_embeddings: 4096,
});
const packing = {
  ...layoutCosts(config, { executionProvider: 'cpu' }),
  ...{ vocabularySize: 1000, contextLength: 4096, tokensPerMicroBatch: 4096 },
};

const forecastOn = (
  executionProvider: string,
  { options = {}, costs = {} }: { readonly options?: object; readonly costs?: object } = {},
  lora?: { rank: number; variant: 'lora' | 'dora' },
) =>
  memoryForecast(
    {
      ...{ engine: { executionProvider }, model: { config } },
      ...{
        activations: 'keep',
        reference: 'none',
        precision: 'float32',
        optimizer: optimizerSchema.parse({}),
      },
      ...options,
    } as never,
    { ...packing, ...costs },
    lora && { base: 'float32', dropout: 0, modulesToSave: [], ...lora },
  );

/** Answers to prompts. Row and token number a prompt or an answer. */
const answered = (prompts: readonly number[], answers: readonly number[]): TrainingSequence[] =>
  answers.map((answer, row) => {
    const prompt = prompts[row % prompts.length]!;
    const tokens = [
      ...new Array<number>(prompt).fill(row % prompts.length),
      ...new Array<number>(answer).fill(500 + row),
    ];
    const mask = tokens.map((_, at) => (at < Math.max(1, prompt) ? 0 : 1));
    return { tokens, mask, weights: mask, columns: {} };
  });
/** Sequences that share nothing. */
const apart = (rows: number, length: number) => answered([0], new Array<number>(rows).fill(length + 1));

const loss: Loss = {
  key: 'test',
  columns: [],
  compute: (_ops, { logprobs }) => ({ tokenLosses: logprobs! }),
};

describe('memoryForecast', () => {
  it('is the estimate of the largest micro-batch', () => {
    const { bytes, held, available } = forecastOn('cpu')(apart(20, 100))!;
    const question = { config, rows: 20, length: 100, reference: 'none' } as const;
    const { total: _, loading: __, table: ___, ...parts } = estimateMemory(question);
    expect(bytes).toEqual(parts);
    expect(held).toBeGreaterThan(2 ** 20);
    expect(available).toBeGreaterThan(2 ** 20);
    const corrected = forecastOn('cpu', {}, { rank: 4, variant: 'lora' })(apart(1, 1))!;
    expect(corrected.bytes.gradients).toBeLessThan(bytes.gradients! / 8);
  });

  it('falls with what stays in the cache, and with tokensPerMicroBatch', () => {
    const of = (costs: object) => forecastOn('cpu', { costs })(apart(40, 100))!.bytes.activations!;
    const { activations } = packing;
    const half = { activations: { ...activations!, cachedTokens: activations!.cachedTokens / 16 } };
    expect(of(half)).toBeLessThan(0.8 * of({}));
    expect(of({ tokensPerMicroBatch: 500 })).toBeLessThan(0.8 * of({}));
  });

  it('counts a prompt once that answers share, and only scores of answers', () => {
    const group = answered([400], new Array<number>(8).fill(32));
    const separate = answered([400, 400, 400, 400, 400, 400, 400, 400], new Array<number>(8).fill(32));
    const [shared, alone] = [group, separate].map((batch) => forecastOn('cpu')(batch)!.bytes);
    expect(shared!.activations).toBeLessThan(0.7 * alone!.activations!);
    expect(shared!.logits).toBe(4 * 8 * 32 * 2000);
  });

  it('keeps the sequences of a row of the loss together', () => {
    const pairs = apart(2, 1000);
    const of = (sequencesPerRow: number) => forecastOn('cpu')(pairs, { sequencesPerRow })!.bytes.logits!;
    expect(of(2)).toBe(2 * of(1));
  });

  it('counts no logits for a loss that reads only values', () => {
    const of = (values: 'needed' | 'only') => forecastOn('cpu')(apart(2, 100), { values })!.bytes;
    expect(of('needed').logits).toBeGreaterThan(0);
    expect(of('only')).toEqual({
      ...of('needed'),
      logits: 0,
      scoring: 0,
      activations: of('only').activations,
    });
  });

  it('foretells at least what each micro-batch of the batch takes, and no more than the largest', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 24 });
    const prompts = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        prompts,
        lengths,
        fc.constantFrom(64, 512, 4096),
        fc.constantFrom(1, 2),
        (prompt, answers, tokensPerMicroBatch, sequencesPerRow) => {
          const sequences = answered(prompt, [
            ...answers,
            ...answers.slice(0, answers.length % sequencesPerRow),
          ]);
          const options = { ...packing, tokensPerMicroBatch };
          const { microBatches } = packBatch({ sequences }, { ...loss, sequencesPerRow }, options);
          const sizes = microBatches.map(({ tokens, scored, rows, length, blocks, stem }) => {
            return { tokens: tokens.length, scored: scored.length, rows, length, blocks, stem };
          });
          expect(microBatchSizes(sequences, options, sequencesPerRow)).toEqual(sizes);
          const { activations, logits } = forecastOn('cpu', { costs: options })(sequences, {
            sequencesPerRow,
          })!.bytes;
          const takes = microBatches.map(({ tokens, scored, rows, length, stem = 0 }) => {
            // Around attention 6 · 64 numbers, in the feed-forward block 2 · 128; three layers, and holes.
            const bytes = (numbers: number) => 4 * (1.2 * 3 * numbers + 2000 * scored.length);
            const probabilities = 4 * (stem ** 2 + tokens.length * stem + rows * length ** 2);
            const copies = 3 * 64 * (tokens.length + stem) + 3 * 64 * rows * length;
            const least = 640 * tokens.length;
            return { least: bytes(least), most: bytes(least + copies + probabilities) };
          });
          const foretold = activations! + logits!;
          expect(foretold).toBeGreaterThanOrEqual(Math.max(0, ...takes.map(({ least }) => least)) - 1);
          expect(foretold).toBeLessThanOrEqual(Math.max(0, ...takes.map(({ most }) => most)) + 1);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('refuses what is not a list of sequences', () => {
    const size = { sequences: 2, tokens: 8 };
    expect(() => forecastOn('cpu')(size as never)).toThrow(/^forecastMemory: .*sequences/);
  });

  it('has no micro-batch if nothing is trained', () => {
    const { activations, logits } = forecastOn('cpu')([{ tokens: [1, 2], mask: [0, 0] }])!.bytes;
    expect([activations, logits]).toEqual([0, 0]);
  });

  it('counts the outputs that DoRA keeps', () => {
    const activations = (variant: 'lora' | 'dora') =>
      forecastOn('cpu', {}, { rank: 4, variant })(apart(1, 10))!.bytes.activations!;
    const outputs = 2 * (64 + 64 + 64 + 64 + 128 + 128 + 64);
    expect(activations('dora') - activations('lora')).toBeCloseTo(4 * (10 * outputs + 64 * 128), 5);
  });

  it('counts the matrices of mixed precision', () => {
    const activations = (precision: 'mixed' | 'float32') =>
      forecastOn('cpu', { options: { precision } }, { rank: 4, variant: 'lora' })(apart(1, 10))!.bytes
        .activations!;
    const matrices = 2 * (4 * 64 * 64 + 3 * 64 * 128) + 1000 * 64;
    expect(activations('mixed') - activations('float32')).toBeCloseTo(2 * matrices, 5);
  });

  it('is unknown on other devices, and in a page', () => {
    expect(forecastOn('cuda')(apart(1, 1))).toBeUndefined();
    const forecast = forecastOn('cpu');
    vi.stubGlobal('process', undefined);
    const inPage = forecast(apart(1, 1));
    vi.unstubAllGlobals();
    expect(inPage).toBeUndefined();
  });
});
