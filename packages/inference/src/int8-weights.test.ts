import type { Completion, TokenScores } from '@rlp/core';
import { type LanguageModel, loadModel } from '@rlp/models';
import { dequantizeMatrix, type LinearLayer, linearLayers, quantizeMatrix } from '@rlp/models/decoder';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { InferenceBackend } from './backend.ts';
import { createOnnxSampler } from './onnx-sampler.ts';
import type { OnnxSamplerOptions } from './onnx-sampler-options.ts';
import { goldenFolder, goldenModels, tinyConfigs, tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

type Kind = keyof typeof tinyConfigs;

let engine: Engine;
const open: InferenceBackend[] = [];

beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((backend) => backend.close()));
});
afterAll(() => engine.close());

async function start(
  options: Partial<OnnxSamplerOptions> & Pick<OnnxSamplerOptions, 'model'>,
): Promise<InferenceBackend> {
  const backend = await createOnnxSampler({ engine, weights: 'int8', ...options });
  open.push(backend);
  return backend;
}

/** The weight that a quantized matrix stands for, in the order of the layer. */
function dequantized(data: Float32Array, layer: LinearLayer): Float32Array {
  return dequantizeMatrix(quantizeMatrix(data, layer, 'int8'), layer);
}

const prompts = ['once', 'upon a time there was', 'q'].map((text) => tinyTokenizer.encode(text));

async function sampled(backend: InferenceBackend, given: readonly (readonly number[])[], maxTokens: number) {
  const requests = given.map((prompt, index) => ({ prompt, count: 6, maxTokens, seed: `int8 ${index}` }));
  const groups = await Promise.all(requests.map((request) => backend.sample(request)));
  return groups.flatMap((completions, index) =>
    completions.map((completion) => ({ prompt: given[index]!, completion })),
  );
}

type Drawn = Awaited<ReturnType<typeof sampled>>;

async function differences(drawn: Drawn, scorer: InferenceBackend): Promise<number[]> {
  const scores = await scorer.scoreTokens(
    drawn.map(({ prompt, completion }) => ({ prompt, completion: completion.tokens })),
  );
  const of = ({ behaviorLogprobs }: Completion, { logprobs }: TokenScores) =>
    Array.from(behaviorLogprobs, (logprob, t) => logprobs[t]! - logprob);
  return drawn.flatMap(({ completion }, index) => of(completion, scores[index]!));
}

const fusable = (Object.keys(tinyConfigs) as Kind[]).filter(
  (kind) => tinyModel(kind).config.headDimension % 8 === 0,
);

/** The model whose weights the int8 sampler stands for. */
function rounded(model: LanguageModel): LanguageModel {
  const layers = linearLayers(model.config).map((layer) => {
    const { shape, data } = model.weights.get(layer.weight)!;
    return [layer.weight, { shape, data: dequantized(data, layer) }] as const;
  });
  return { ...model, weights: new Map([...model.weights, ...layers]) };
}

describe.each(fusable)('int8 weights of a tiny %s', (kind) => {
  it('sample at the probabilities of the rounded weights', async () => {
    const model = tinyModel(kind);
    const backend = await start({ model, store: `int8 ${kind}` });
    const oracle = await start({ model: rounded(model), store: `rounded ${kind}`, weights: 'shared' });
    const drawn = await sampled(backend, prompts, 12);
    const found = await differences(drawn, oracle);
    const mean = found.reduce((sum, difference) => sum + Math.abs(difference), 0) / found.length;
    // What is left is the rounding of activations to 8 bits within the products, and of the head.
    expect(mean).toBeLessThan(0.05);
  });
});

describe('int8 weights', () => {
  it('are taken over from a checkpoint or a trainer at publication', async () => {
    const [model, next] = [tinyModel('qwen3'), tinyModel('qwen3', 'other')];
    const expected = await sampled(await start({ model: next, store: 'int8 expected' }), prompts, 8);
    const backend = await start({ model, store: 'int8 published' });
    expect(await sampled(backend, prompts, 8)).not.toEqual(expected);
    await engine.writeStore('int8 published', next.weights);
    await backend.updateWeights({ kind: 'shared', version: 3, engine, store: 'int8 published' });
    const drawn = await sampled(backend, prompts, 8);
    expect(drawn.map(({ completion }) => completion.tokens)).toEqual(
      expected.map(({ completion }) => completion.tokens),
    );
    expect(drawn.every(({ completion }) => completion.policyVersion === 3)).toBe(true);
  });

  it('are refused where the operator is not to be had', async () => {
    await expect(start({ model: tinyModel(), store: 'int8 refused', operators: 'standard' })).rejects.toThrow(
      "weights 'int8' needs operators 'fused' on the provider cpu, got 'standard' on cpu; use weights 'shared'",
    );
  });
});

describe.each(goldenModels())('int8 weights of %s', (name) => {
  it('have a token-level effective sample size of at least 0.99 beside float32', async () => {
    const model = await loadModel(goldenFolder(name));
    const backend = await start({ model, store: name });
    const given = ['Once upon a time', 'Tom and Lily', 'One day'].map((text) => model.tokenizer.encode(text));
    const found = await differences(await sampled(backend, given, 48), backend);
    const ratios = found.map((difference) => Math.exp(difference));
    const sum = ratios.reduce((total, ratio) => total + ratio, 0);
    const squares = ratios.reduce((total, ratio) => total + ratio * ratio, 0);
    expect(found.length).toBeGreaterThan(200);
    expect((sum * sum) / (found.length * squares)).toBeGreaterThan(0.99);
    expect(found.some((difference) => Math.abs(difference) > 1e-3)).toBe(true);
  });
});
