import type { Weights } from '@rlp/core';
import {
  describeCheckpointBackend,
  describeReferenceBackend,
  describeTrainingBackend,
} from '@rlp/core/testing';
import type { LanguageModel } from '@rlp/models';
import {
  dequantizeMatrix,
  linearLayers,
  type QuantizedForm,
  quantizedForms,
  quantizeMatrix,
} from '@rlp/models/decoder';
import { describe, expect, it } from 'vitest';
import type { OnnxBackendOptions } from '../backend-options.ts';
import type { OnnxTrainingBackend } from '../onnx-backend.ts';
import { inlineBackends, temporaryCheckpoint } from '../testing/inline-backends.ts';
import { gpt2, negativeLogLikelihood, sequences, tinyModel, tokenizer } from '../testing/tiny-model.ts';

const backends = inlineBackends();
const create = backends.create;

for (const base of quantizedForms) {
  const name = `a decoder with low-rank adaptation of weights as ${base}`;
  const subject = {
    create: async () => (await create({ lora: { rank: 3, base } })).backend,
    vocabularySize: tokenizer.vocabularySize,
    checkpointDirectory: temporaryCheckpoint,
  };
  describeTrainingBackend(name, subject);
  describeReferenceBackend(name, subject);
  describeCheckpointBackend(name, subject);
}

/** The model that quantized weights stand for. */
function rounded(model: LanguageModel, form: QuantizedForm): LanguageModel {
  const layers = linearLayers(model.config).map((layer) => {
    const { shape, data } = model.weights.get(layer.weight)!;
    return [
      layer.weight,
      { shape, data: dequantizeMatrix(quantizeMatrix(data, layer, form), layer) },
    ] as const;
  });
  return { ...model, weights: new Map([...model.weights, ...layers]) };
}

/** ‖a − b‖ / ‖b‖ over all tensors. */
function relativeDistance(a: Weights, b: Weights): number {
  expect([...a.keys()].toSorted()).toEqual([...b.keys()].toSorted());
  let difference = 0;
  let size = 0;
  for (const [name, { data }] of b) {
    const other = a.get(name)!.data;
    expect(other).toHaveLength(data.length);
    for (const [at, value] of data.entries()) {
      difference += (other[at]! - value) ** 2;
      size += value ** 2;
    }
  }
  return Math.sqrt(difference / size);
}

async function train(backend: OnnxTrainingBackend, updates: number): Promise<void> {
  for (let update = 0; update < updates; update++) {
    await backend.forwardBackward({ sequences }, negativeLogLikelihood);
    await backend.optimStep();
  }
}

const tokens = sequences.map((sequence) => [...sequence.tokens]);

/** Widths below, at and above the size of a block, biases, and weights stored the other way round. */
const shapes = {
  'whole blocks': { hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2 },
  'a block and a rest': { model_type: 'qwen2', hidden_size: 80, intermediate_size: 130 },
  gpt2: { ...gpt2, n_embd: 80 },
  'untied experts': {
    ...{
      model_type: 'qwen3_moe',
      num_experts: 2,
      num_experts_per_tok: 1,
      moe_intermediate_size: 24,
      head_dim: 8,
    },
    ...{ tie_word_embeddings: false, decoder_sparse_step: 1, mlp_only_layers: [], norm_topk_prob: true },
  },
};

const cases = quantizedForms.flatMap((base) =>
  Object.entries(shapes).map(([name, change]) => ({ base, name, change })),
);

describe.each(cases)('weights as $base of $name', ({ base: form, name, change }) => {
  const open = async (model: LanguageModel, options: Partial<OnnxBackendOptions> = {}) =>
    create({ model, reference: 'none', ...options });

  it('train as their float32 values do', async () => {
    const model = tinyModel(change);
    const activations = name === 'whole blocks' ? 'recompute' : 'keep';
    const ours = await open(model, { activations, lora: { rank: 2, base: form } });
    const theirs = await open(rounded(model, form), { lora: { rank: 2 } });
    await train(ours.backend, 3);
    await train(theirs.backend, 3);
    const [got, wanted] = await Promise.all(
      [ours, theirs].map(({ store }) => backends.engine.readStore(`${store}/adapter`)),
    );
    expect(relativeDistance(got!, wanted!)).toBeLessThan(2e-5);
    expect(relativeDistance(await ours.backend.getWeights(), await theirs.backend.getWeights())).toBeLessThan(
      2e-6,
    );
    const [a, b] = [await ours.backend.logprobs(tokens), await theirs.backend.logprobs(tokens)];
    for (const [row, { logprobs }] of b.entries()) {
      for (const [at, logprob] of logprobs.entries()) expect(a[row]!.logprobs[at]).toBeCloseTo(logprob, 5);
    }
    await Promise.all([ours.backend.close(), theirs.backend.close()]);
  });

  it('has nearly the gradient of the weights before rounding', async () => {
    // Layers that keep the size of what they are given, as those of trained models do.
    const model = tinyModel({ ...change, initializer_range: 0.12 });
    const gradients: Weights[] = [];
    for (const base of [form, 'float32'] as const) {
      const { backend, store } = await open(model, { lora: { rank: 2, base } });
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      gradients.push(await backends.engine.readStore(`${store}/adapter`, 'gradient'));
      await backend.close();
    }
    // Four bits move weights ten times as far as eight.
    expect(relativeDistance(gradients[0]!, gradients[1]!)).toBeLessThan(form === 'int8' ? 0.05 : 0.45);
  });
});

it.each([
  ['int8', 8],
  ['nf4', 4],
] as const)('says that it cannot take weights, which would be rounded to %s', async (base, bits) => {
  const { backend } = await create({ lora: { base } });
  expect(backend.lacks).toContain('weights');
  await expect(backend.loadWeights(await backend.getWeights())).rejects.toThrow(
    `loadWeights: this backend stores the frozen weights in ${bits} bits`,
  );
  await backend.close();
});
