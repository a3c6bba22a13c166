import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxSampler } from './onnx-sampler.ts';
import type { OnnxSamplerOptions } from './onnx-sampler-options.ts';
import { tinyConfigs, tinyModel, tinyTokenizer } from './testing/tiny-models.ts';

let engine: Engine;

beforeAll(async () => {
  engine = await createEngine({ thread: 'inline', threads: 1 });
});
afterAll(() => engine.close());

/** Texts that repeat themselves, one after another, greedy and drawn. */
async function completions(options: Partial<OnnxSamplerOptions>) {
  const sampler = await createOnnxSampler({ engine, model: tinyModel(), maxSequences: 1, ...options });
  const texts = [];
  for (const temperature of [0, 0.3, 1]) {
    const prompt = tinyTokenizer.encode('the fox and the fox and the');
    const request = { prompt, count: 2, maxTokens: 30, temperature, seed: 'repeats', stopTokens: [] };
    texts.push(...(await sampler.sample({ ...request, repetitionPenalty: temperature === 1 ? 1.2 : 1 })));
  }
  await sampler.close();
  return texts;
}

async function compareWithSingleSteps(options: Partial<OnnxSamplerOptions>) {
  const single = await completions(options);
  const guessed = await completions({ ...options, promptLookup: 5 });
  expect(guessed.map(({ tokens }) => tokens)).toEqual(single.map(({ tokens }) => tokens));
  const differences = guessed.flatMap(({ behaviorLogprobs }, index) =>
    behaviorLogprobs.map((logprob, at) => Math.abs(logprob - single[index]!.behaviorLogprobs[at]!)),
  );
  expect(Math.max(...differences)).toBeLessThan(1e-5);
}

describe('promptLookup', () => {
  it.each(Object.keys(tinyConfigs) as (keyof typeof tinyConfigs)[])(
    'samples the tokens of single steps from a tiny %s',
    (kind) => compareWithSingleSteps({ model: tinyModel(kind), store: kind }),
  );

  it.each([
    { name: 'standard operators', options: { operators: 'standard' } as const },
    { name: 'packed weights', options: { weights: 'packed' } as const },
    { name: 'weights in 8 bits', options: { weights: 'int8' } as const },
    { name: 'a cache of prefixes', options: { prefixCacheBytes: 2 ** 20 } },
  ])('samples the tokens of single steps with $name', ({ options }) => compareWithSingleSteps(options));
});
