import { type HostTensor, RandomStream } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import {
  correctionNames,
  dequantizeMatrix,
  linearLayers,
  type QuantizedForm,
  quantizedForms,
  quantizeMatrix,
  quantizeWeights,
} from '@rlp/models/decoder';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { InferenceBackend } from './backend.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import { tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

const rank = 2;
let engine: Engine;
beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

/** Published factors of every second layer, of which half are corrected. */
function factorsOf(model: LanguageModel, size: number): Map<string, HostTensor> {
  const random = RandomStream.named('factors');
  const draw = (shape: readonly number[]) => ({
    shape,
    data: Float32Array.from({ length: shape[0]! * shape[1]! }, () => size * (random.uniform() - 0.5)),
  });
  return new Map(
    linearLayers(model.config)
      .filter((_, at) => at % 2 === 0)
      .flatMap(({ weight, inputs, outputs }) => {
        const names = correctionNames(weight);
        return [
          [names.down, draw([rank, inputs])],
          [names.up, draw([outputs, rank])],
        ] as const;
      }),
  );
}

/** The model that bytes and factors stand for. */
function merged(
  model: LanguageModel,
  factors: ReadonlyMap<string, HostTensor>,
  form: QuantizedForm,
): LanguageModel {
  const weights = new Map(model.weights);
  for (const layer of linearLayers(model.config)) {
    const { shape, data } = model.weights.get(layer.weight)!;
    const values = dequantizeMatrix(quantizeMatrix(data, layer, form), layer);
    const names = correctionNames(layer.weight);
    const [down, up] = [factors.get(names.down)?.data, factors.get(names.up)?.data];
    const { inputs, outputs, order } = layer;
    for (let o = 0; down && up && o < outputs; o++) {
      for (let i = 0; i < inputs; i++) {
        for (let r = 0; r < rank; r++) {
          values[order === 'out-in' ? o * inputs + i : i * outputs + o]! +=
            up[o * rank + r]! * down[r * inputs + i]!;
        }
      }
    }
    weights.set(layer.weight, { shape, data: values });
  }
  return { ...model, weights };
}

/** Puts a model into a store as a trainer of a correction does. */
async function publish(
  store: string,
  model: LanguageModel,
  factors: ReadonlyMap<string, HostTensor>,
  form: QuantizedForm,
) {
  const weights = quantizeWeights(model.weights, linearLayers(model.config), form);
  const contents = new Map([...weights, ...factors]);
  const parameters = [...contents].map(([name, { shape }]) => ({ name, shape }));
  await engine.createStore({ name: store, parameters }, contents, model.weights);
}

const requests = ['once upon a time', 'qu'].map((text) => {
  const tokens = tinyTokenizer.encode(text);
  return { prompt: tokens.slice(0, 1), completion: tokens.slice(1) };
});

async function logprobsOf(sampler: InferenceBackend): Promise<number[]> {
  return (await sampler.scoreTokens(requests)).flatMap(({ logprobs }) => [...logprobs]);
}

function largestGap(a: readonly number[], b: readonly number[]): number {
  expect(a).toHaveLength(b.length);
  return Math.max(...a.map((value, at) => Math.abs(value - b[at]!)));
}

function meanGap(a: readonly number[], b: readonly number[]): number {
  expect(a).toHaveLength(b.length);
  return a.reduce((sum, value, at) => sum + Math.abs(value - b[at]!), 0) / a.length;
}

const cases = quantizedForms.flatMap((form) => (['llama', 'gpt2'] as const).map((kind) => ({ form, kind })));

describe.each(cases)('frozen weights as $form of a tiny $kind', ({ form, kind }) => {
  it('are scored as the weights that they stand for, and sampled nearly so', async () => {
    const model = tinyModel(kind);
    const factors = factorsOf(model, 0.2);
    const store = `${form} ${kind}`;
    await publish(store, model, factors, form);
    const sampler = await createOnnxSampler({ engine, model, store });
    const plain = await createOnnxSampler({
      engine,
      model: merged(model, factors, form),
      store: `floats of ${store}`,
    });
    const standard = await createOnnxSampler({ engine, model, store, operators: 'standard' });
    expect(largestGap(await logprobsOf(sampler), await logprobsOf(plain))).toBeLessThan(2e-5);

    const prompt = tinyTokenizer.encode('once');
    // As for weights that the sampler rounds itself, what is left is the rounding of activations within the product.
    for (const [subject, limit, least] of [
      [sampler, 0.05, 1e-4],
      [standard, 2e-5, 0],
    ] as const) {
      const answers = await subject.sample({ prompt, count: 4, maxTokens: 8, seed: 'bytes' });
      const scores = await subject.scoreTokens(answers.map(({ tokens }) => ({ prompt, completion: tokens })));
      const drawn = answers.flatMap(({ behaviorLogprobs }) => [...behaviorLogprobs]);
      const gap = meanGap(
        drawn,
        scores.flatMap(({ logprobs }) => [...logprobs]),
      );
      expect(gap).toBeLessThan(limit);
      expect(gap).toBeGreaterThanOrEqual(least);
    }
    await Promise.all([sampler.close(), plain.close(), standard.close()]);
  });
});

it.each(quantizedForms)(
  'samples with factors as they are published beside %s, and takes no other publication',
  async (form) => {
    const store = `published ${form}`;
    const model = tinyModel('llama');
    await publish(store, model, factorsOf(model, 0), form);
    const sampler = await createOnnxSampler({ engine, model, store });
    const prompt = tinyTokenizer.encode('once');
    const sample = async () =>
      (await sampler.sample({ prompt, count: 1, maxTokens: 4, seed: 'published' }))[0]!.behaviorLogprobs[0]!;
    const before = await sample();
    const factors = factorsOf(model, 2);
    await engine.writeStore(store, factors);
    await sampler.updateWeights({ kind: 'shared', version: 1, engine, store });
    const after = await sampler.sample({ prompt, count: 1, maxTokens: 4, seed: 'published' });
    const { tokens, behaviorLogprobs } = after[0]!;
    const plain = await createOnnxSampler({
      engine,
      model: merged(model, factors, form),
      store: `floats of ${store}`,
    });
    const [score] = await plain.scoreTokens([{ prompt, completion: tokens }]);
    expect(meanGap([...behaviorLogprobs], [...score!.logprobs])).toBeLessThan(0.05);
    expect(Math.abs(before - behaviorLogprobs[0]!)).toBeGreaterThan(1e-3);
    await expect(sampler.updateWeights({ kind: 'checkpoint', version: 2, path: 'none' })).rejects.toThrow(
      `updateWeights: store "${store}" holds the linear layers in ${form === 'int8' ? 8 : 4} bits`,
    );
    await Promise.all([sampler.close(), plain.close()]);
  },
);

const kept = [
  { what: 'the router of experts', weights: 'shared', suffix: 'mlp.gate.weight' },
  { what: 'the router of experts', weights: 'int8', suffix: 'mlp.gate.weight' },
  { what: 'the head', weights: 'shared', suffix: 'lm_head.weight' },
  { what: 'the head', weights: 'int8', suffix: 'lm_head.weight' },
] as const;

it.each(kept)("takes $what over at publication with '$weights' weights", async ({ weights, suffix }) => {
  const model = tinyModel('qwen3, experts');
  const store = `${weights} ${suffix}`;
  await publish(store, model, new Map(), 'int8');
  const open = () => createOnnxSampler({ engine, model, store, weights });
  const sample = (sampler: InferenceBackend) =>
    sampler.sample({ prompt: tinyTokenizer.encode('once'), count: 2, maxTokens: 8, seed: 'experts' });
  const sampler = await open();
  const before = await sample(sampler);
  // Of a large vocabulary, an update may change hardly more than the rows of sampled tokens.
  const [sampled] = before[0]!.tokens;
  const turn = (x: number, row: number) => (suffix === 'lm_head.weight' && row !== sampled ? x : -x);
  const turned = [...model.weights]
    .filter(([name]) => name.endsWith(suffix))
    .map(([name, { shape, data }]) => {
      const changed = data.map((x, at) => turn(x, Math.floor(at / shape[1]!)));
      return [name, { shape, data: changed }] as const;
    });
  await engine.writeStore(store, new Map(turned));
  await sampler.updateWeights({ kind: 'shared', version: 0, engine, store });
  const after = await sample(sampler);
  expect(after).not.toEqual(before);
  const other = await open();
  expect(await sample(other)).toEqual(after);
  await Promise.all([sampler.close(), other.close()]);
});
