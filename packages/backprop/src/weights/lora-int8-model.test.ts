import { fileURLToPath } from 'node:url';
import type { TrainingSequence, Weights } from '@rlp/core';
import { loadModel } from '@rlp/models';
import { expect, it } from 'vitest';
import { inlineBackends } from '../testing/inline-backends.ts';
import { negativeLogLikelihood } from '../testing/tiny-model.ts';

const backends = inlineBackends();
const folder = fileURLToPath(new URL('../../../../examples/models/stories260k', import.meta.url));

const practised = [
  'Once upon a time, there was a little girl named Lily. She loved to play outside in the park.',
  'Tom had a big red ball. One day, he saw a dog and they played together all day long.',
  'The sun was hot, so Ben and his mom went to the lake to swim and eat ice cream.',
];
const held = [
  'Lily and Tom were friends. They went to the park and saw a big dog.',
  'The cat was sad because it was hot and there was no milk.',
];

/** Entries of `B · A` of every layer. */
function corrections(factors: Weights): number[] {
  return [...factors].flatMap(([name, { shape, data: down }]) => {
    if (!name.includes('lora_A')) return [];
    const [rank, inputs] = shape as [number, number];
    const up = factors.get(name.replace('lora_A', 'lora_B'))!.data;
    const entries = new Float64Array((up.length / rank) * inputs);
    for (let at = 0; at < entries.length; at++) {
      const [output, input] = [Math.floor(at / inputs), at % inputs];
      for (let r = 0; r < rank; r++) entries[at]! += up[output * rank + r]! * down[r * inputs + input]!;
    }
    return [...entries];
  });
}

const norm = (values: readonly number[]) => Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0));

it('a trained model with weights in 8 bits learns nearly what it learns with float32 weights', async () => {
  const model = await loadModel(folder);
  const sequences = practised.map((text): TrainingSequence => {
    const tokens = model.tokenizer.encode(text);
    return {
      tokens,
      mask: tokens.map((_, t) => Math.min(t, 1)),
      weights: tokens.map(() => 0.01),
      columns: {},
    };
  });
  const learn = async (base: 'float32' | 'int8') => {
    const { backend, store } = await backends.create({
      ...{ model, learningRate: 1e-3, reference: 'none', maxGradientNorm: 1 },
      lora: { rank: 8, base },
    });
    for (let update = 0; update < 10; update++) {
      await backend.forwardBackward({ sequences }, negativeLogLikelihood);
      await backend.optimStep();
    }
    const scores = await backend.logprobs(held.map((text) => model.tokenizer.encode(text)));
    const factors = await backends.engine.readStore(`${store}/adapter`);
    await backend.close();
    return {
      correction: corrections(factors),
      logprobs: scores.flatMap(({ logprobs }) => [...logprobs.slice(1)]),
    };
  };
  const [floats, bytes] = [await learn('float32'), await learn('int8')];
  const gaps = floats.logprobs.map((logprob, at) => Math.abs(logprob - bytes.logprobs[at]!));
  // Rounding alone changes these logprobs by 0.019 nats on average, and training must not add to that much.
  expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeLessThan(0.05);
  // Rounding moves a weight by about 0.6 % of its block's deviation, and AdamW makes small gradients as large as others.
  const distance = norm(floats.correction.map((entry, at) => entry - bytes.correction[at]!));
  expect(distance / norm(floats.correction)).toBeLessThan(0.15);
});
