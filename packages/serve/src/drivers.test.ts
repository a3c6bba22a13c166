import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOnnxBackend } from '@rlp/backprop';
import type { Loss } from '@rlp/core';
import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import type { InferenceBackend } from '@rlp/inference';
import { createSglangSampler } from '@rlp/inference/sglang';
import { createVllmSampler } from '@rlp/inference/vllm';
import { afterAll, describe, expect, it } from 'vitest';
import { serveModel } from './index.ts';
import { tinyPolicy } from './tiny.fixture.ts';

const { policy, model, folder, root, engine, close } = await tinyPolicy();
const server = await serveModel({ policy, name: 'tiny', folder, closeMs: 1000 });
afterAll(async () => {
  await server.close();
  await close();
});

const { tokenizer } = model;
const { vocabularySize } = model.config;
const prompt = tokenizer.encode('once upon');
const at = { url: server.url, token: server.token, tokenizer, vocabularySize };
const requests = [
  { prompt, completion: [5, 6, 7] },
  { prompt: [...prompt, 9], completion: [8, 3] },
] as const;
const nll: Loss = {
  key: 'nll',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
let stores = 0;
const trainer = (form: 'adapter' | 'checkpoint') =>
  createOnnxBackend({
    ...{ engine, model, store: `trainer ${stores++}`, reference: 'none', learningRate: 0.05 },
    ...(form === 'adapter' && { lora: { rank: 2 } }),
  });

/** The drivers, made once. Their server has whatever weights the tests before gave it. */
const drivers: Readonly<Record<string, InferenceBackend>> = {
  'vLLM driver': await createVllmSampler(at),
  'vLLM driver with entropies': await createVllmSampler({ ...at, entropies: 'exact' }),
  'SGLang driver': await createSglangSampler(at),
};

for (const [name, driver] of Object.entries(drivers)) {
  describeSampler(`${name} on our server`, {
    create: () => driver,
    prompt,
    tooLongPrompt: Array.from({ length: 65 }, () => 5),
  });
  describeTokenScorer(`${name} on our server`, {
    ...{ create: () => driver, requests, vocabularySize },
    entropies: name.endsWith('entropies') ? 'given' : 'unknown',
  });
}

// Checkpoints replace the model that adapters correct, so they come last.
for (const form of ['adapter', 'checkpoint'] as const) {
  for (const name of ['vLLM driver', 'SGLang driver']) {
    const backend = await trainer(form);
    const create = () => drivers[name]!;
    const directory = (version: number) => join(root, `${name} ${form} ${version}`);
    describeInferenceEngine(`${name} on our server, by ${form}`, {
      ...{ create, prompt },
      publication: async (version) => ({
        ...(await backend.publish({ as: form, directory: directory(version) })),
        version,
      }),
      impossible: (version) => ({ kind: form, version, path: join(root, 'missing') }),
    });
    describe(`${name} on our server, by ${form}`, () => {
      it('has the logprobs of the trainer after each update', async () => {
        const driver = create();
        for (const version of [101, 102]) {
          const tokens = [...prompt, 5, 6, 7];
          const rows = {
            mask: tokens.map((_, t) => (t === 0 ? 0 : 1)),
            weights: tokens.map(() => 1),
            columns: {},
          };
          await backend.forwardBackward({ sequences: [{ tokens, ...rows }] }, nll);
          await backend.optimStep();
          const publication = await backend.publish({ as: form, directory: directory(version) });
          await driver.updateWeights({ ...publication, version });
          const [ours] = await backend.logprobs([tokens]);
          const [theirs] = await driver.scoreTokens([requests[0]]);
          for (const [t, logprob] of theirs!.logprobs.entries()) {
            expect(logprob).toBeCloseTo(ours!.logprobs[prompt.length + t]!, 4);
          }
        }
      });
    });
  }
}

describe('the vLLM driver on our server', () => {
  it('samples with filters and at any temperature, and gets the logprobs of the policy', async () => {
    const driver = await createVllmSampler(at);
    const request = { prompt, count: 2, maxTokens: 4, seed: 'filtered', temperature: 0.7, topK: 2 };
    const [first] = await driver.sample(request);
    const scores = await policy.scoreTokens([{ prompt, completion: first!.tokens }], { temperature: 0.7 });
    for (const [t, logprob] of first!.behaviorLogprobs.entries()) {
      expect(logprob).toBeCloseTo(scores[0]!.logprobs[t]!, 4);
    }
  });
});

describe('weights on our server', () => {
  it('answers with the weights of the name that is asked for, side by side', async () => {
    const first = await createVllmSampler(at);
    const backend = await trainer('adapter');
    const [before] = await first.scoreTokens([requests[0]]);
    const tokens = [...prompt, 5, 6, 7];
    const rows = { mask: tokens.map((_, t) => (t === 0 ? 0 : 1)), weights: tokens.map(() => 1), columns: {} };
    await backend.forwardBackward({ sequences: [{ tokens, ...rows }] }, nll);
    await backend.optimStep();
    const second = await createVllmSampler(at);
    const directory = join(root, 'side by side');
    await second.updateWeights({ ...(await backend.publish({ as: 'adapter', directory })), version: 1 });
    const [[base], [adapted]] = await Promise.all([
      first.scoreTokens([requests[0]]),
      second.scoreTokens([requests[0]]),
    ]);
    expect(base).toEqual(before);
    expect(adapted!.logprobs[0]).not.toBeCloseTo(before!.logprobs[0]!, 3);
  });

  it('refuses an adapter of another model, and keeps its weights', async () => {
    const other = join(root, 'other');
    await mkdir(other);
    await writeFile(join(other, 'adapter_config.json'), '{"peft_type":"LORA","r":2}');
    const driver = await createVllmSampler(at);
    const [before] = await driver.scoreTokens([requests[0]]);
    await expect(driver.updateWeights({ kind: 'adapter', version: 7, path: other })).rejects.toThrow();
    const [after] = await driver.scoreTokens([requests[0]]);
    expect(after).toEqual(before);
  });
});
