import { type Loss, RandomStream, TrainingError, type TrainingSequence } from '@rlp/core';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOnnxBackend } from './create-backend.ts';
import { negativeLogLikelihood, tinyModel, tokenizer } from './testing/tiny-model.ts';

const engines: Engine[] = [];
beforeAll(async () => {
  for (const threads of [1, 2]) engines.push(await createEngine({ threads, profiling: 'runs' }));
});
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

const random = RandomStream.named('lanes');
const batch = Array.from({ length: 24 }, (): TrainingSequence => {
  const tokens = Array.from({ length: 3 + random.integer(28) }, () =>
    random.integer(tokenizer.vocabularySize),
  );
  const mask = tokens.map((_, t) => Math.min(t, 1));
  return { tokens, mask, weights: tokens.map(() => 0.01), columns: {} };
});

/** Runs that the engine has counted. */
async function runsOf(engine: Engine): Promise<number> {
  return (await engine.profile())[0]!.count;
}

it.each([
  ['full training', {}],
  ['a correction of low rank with dropout', { lora: { rank: 2, dropout: 0.25 } }],
])('two micro-batches at once train to the very weights of one after another: %s', async (_, options) => {
  const results = [];
  for (const engine of engines) {
    const model = tinyModel();
    const defaults = { learningRate: 0.01, tokensPerMicroBatch: 128, store: `policy ${_}` };
    const backend = await createOnnxBackend({ engine, model, ...defaults, ...options });
    const before = await runsOf(engine);
    const passes = [];
    for (let update = 0; update < 2; update++) {
      // Gradients of two calls add up.
      for (const part of [batch.slice(0, 14), batch.slice(14)]) {
        const { loss, logprobs } = await backend.forwardBackward({ sequences: part }, negativeLogLikelihood);
        passes.push({ loss, logprobs });
      }
      passes.push(await backend.optimStep());
    }
    const runs = (await runsOf(engine)) - before;
    const scores = await backend.logprobs(batch.map(({ tokens }) => tokens));
    results.push({ runs, passes, scores, weights: await backend.getWeights() });
    await backend.close();
  }
  expect(results[0]!.runs).toBeGreaterThan(8);
  expect(results[1]).toEqual(results[0]);
});

it('a failure in one lane leaves nothing behind', async () => {
  const broken: Loss = {
    key: 'broken',
    columns: ['factor'],
    compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.factor!) }),
  };
  const [, engine] = engines;
  const backend = await createOnnxBackend({
    ...{ engine: engine!, model: tinyModel(), learningRate: 0.01, tokensPerMicroBatch: 64 },
    ...{ store: 'failing', maxGradientNorm: 'off' },
  });
  const losing = (factor: number) => ({
    sequences: batch.map((one, index) => ({
      ...one,
      columns: { factor: one.tokens.map(() => (index === 11 ? factor : 1)) },
    })),
  });
  const good = await backend.forwardBackward(losing(1), broken);
  const { gradientNorm } = await backend.optimStep({ learningRate: 0 });
  await expect(backend.forwardBackward(losing(3e38), broken)).rejects.toThrow(TrainingError);
  expect(await backend.forwardBackward(losing(1), broken)).toEqual(good);
  expect((await backend.optimStep({ learningRate: 0 })).gradientNorm).toBe(gradientNorm);
  await backend.close();
});
