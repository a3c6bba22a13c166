import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TrainingError } from '@rlp/core';
import { describeFullBackend } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import type { OnnxBackendOptions } from './backend-options.ts';
import type { OnnxTrainingBackend } from './onnx-backend.ts';
import { inlineBackends, temporaryCheckpoint } from './testing/inline-backends.ts';
import { gpt2, negativeLogLikelihood, sequences, tinyModel, tokenizer } from './testing/tiny-model.ts';
import { trainedOn } from './testing/trained-on.ts';

const backends = inlineBackends();
const mixed = (options: Partial<OnnxBackendOptions> = {}) =>
  backends.create({ precision: 'mixed', ...options }).then(({ backend }) => backend);
/** The sequences, with weights of the loss. */
const weighted = (weight: number) =>
  sequences.map((sequence) => ({ ...sequence, weights: sequence.tokens.map(() => weight) }));

describeFullBackend('a decoder in mixed precision', {
  create: () => mixed(),
  vocabularySize: tokenizer.vocabularySize,
  checkpointDirectory: temporaryCheckpoint,
});

/** Loss and gradient norm of one pass over the sequences, whose loss is multiplied. */
async function passOf(backend: OnnxTrainingBackend, weight = 0.01) {
  const { loss } = await backend.forwardBackward({ sequences: weighted(weight) }, negativeLogLikelihood);
  const { gradientNorm } = await backend.optimStep();
  await backend.close();
  return [loss / weight, gradientNorm / weight] as const;
}

/** How far `found` is from `exact`, as a share. */
const apart = (found: number, exact: number) => Math.abs(found / exact - 1);

const gemma = { model_type: 'gemma3_text', query_pre_attn_scalar: 4, head_dim: 4, sliding_window: 8 };
const experts = { num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 8, norm_topk_prob: true };

it.each<[string, Partial<OnnxBackendOptions>]>([
  ['Llama', {}],
  ['GPT-2', { model: tinyModel(gpt2) }],
  ['Qwen 3, norms of heads', { model: tinyModel({ model_type: 'qwen3', head_dim: 4 }) }],
  ['Gemma 3, norms of outputs', { model: tinyModel(gemma) }],
  ['OLMo 2, no norms of inputs', { model: tinyModel({ model_type: 'olmo2' }) }],
  ['a mixture of experts', { model: tinyModel({ model_type: 'qwen3_moe', head_dim: 4, ...experts }) }],
  ['a vocabulary in blocks', { model: tinyModel({ vocab_size: 5000 }) }],
  ['layers computed again', { activations: 'recompute' }],
  ['a low-rank correction', { lora: { rank: 4 } }],
])('%s: loss and gradient are those of float32, rounded', async (_, options) => {
  const exact = await passOf((await backends.create(options)).backend);
  const found = await passOf(await mixed(options));
  for (const [part, value] of found.entries()) {
    expect(apart(value, exact[part]!)).toBeLessThan(5e-3);
    expect(value).not.toBe(exact[part]);
  }
});

it('trains policy and critic as float32 does', async () => {
  const [found, exact] = [await trainedOn('cpu', { precision: 'mixed' }), await trainedOn('cpu')];
  for (const [part, expected] of Object.entries(exact)) {
    expect(found[part], part).toEqual(expected.map((value) => expect.closeTo(value, 2)));
  }
});

it('keeps gradients that float16 has no numbers for', async () => {
  const exact = await passOf((await backends.create()).backend, 1e-7);
  const found = await passOf(await mixed(), 1e-7);
  expect(apart(found[1], exact[1])).toBeLessThan(5e-3);
});

describe('a gradient that overflows', () => {
  const step = async (backend: OnnxTrainingBackend, weight: number) => {
    await backend.forwardBackward({ sequences: weighted(weight) }, negativeLogLikelihood);
    return backend.optimStep();
  };

  it('leaves out the update, and the factor falls until it fits', async () => {
    const backend = await mixed();
    const before = await backend.getWeights();
    const first = await step(backend, 100);
    expect(first).toMatchObject({ skipped: 'overflow', updates: 0 });
    expect(await backend.getWeights()).toEqual(before);
    let skipped = 1;
    let last = await step(backend, 100);
    for (; last.skipped; last = await step(backend, 100)) skipped += 1;
    expect(last.updates).toBe(1);
    expect(skipped).toBeLessThan(12);
    const exact = await passOf((await backends.create()).backend, 100);
    expect(apart(last.gradientNorm / 100, exact[1])).toBeLessThan(5e-3);
    await backend.close();
  });

  it('goes on after a checkpoint as without it', async () => {
    const [through, resumed] = [await mixed(), await mixed()];
    const folder = await temporaryCheckpoint();
    await step(through, 100);
    await through.saveCheckpoint(folder);
    expect(JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')).lossScale.factor).toBe(2 ** 15);
    await resumed.loadCheckpoint(folder);
    for (let i = 0; i < 12; i++) {
      const [one, other] = [await step(through, 100), await step(resumed, 100)];
      expect(one).toEqual(other);
    }
    expect(await resumed.getWeights()).toEqual(await through.getWeights());
    await Promise.all([through.close(), resumed.close()]);
  });

  it('is an error if no factor helps', async () => {
    const backend = await mixed();
    const steps = async () => {
      for (let i = 0; i < 40; i++) await step(backend, 1e30);
    };
    await expect(steps()).rejects.toThrow(TrainingError);
    await expect(step(backend, 1e30)).rejects.toThrow(/gradient of ".*" is not finite/);
    await backend.close();
  });
});

it.each<[NonNullable<OnnxBackendOptions['lora']>, string]>([
  [{ variant: 'dora' }, "variant 'dora'"],
  [{ base: 'int8' }, "base 'int8'"],
])('is not combined with %o', async (lora, refused) => {
  await expect(mixed({ lora })).rejects.toThrow(`precision: 'mixed' is not combined with ${refused} of lora`);
});
