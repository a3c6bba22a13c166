import { createTinkerBackend, createTinkerSampler } from '@rlp/backprop/tinker';
import { RlpError } from '@rlp/core';
import { chatAgentPolicy } from '@rlp/inference/openai';
import { createSglangSampler } from '@rlp/inference/sglang';
import { createVllmSampler } from '@rlp/inference/vllm';
import { afterAll, describe, expect, it } from 'vitest';
import { serveModel } from './index.ts';
import { token as key, tokenizer as letters, openFixture } from './tinker/tinker.fixture.ts';
import { tinyPolicy } from './tiny.fixture.ts';
import { passing, troubledServer, troubles } from './troubled-server.fixture.ts';

const { policy, model, folder, close } = await tinyPolicy();
const token = 'tml-secret-0123456789';
const models = await serveModel({ policy, name: 'tiny', folder, token, closeMs: 1000 });
const tinker = await openFixture('trouble');
const trainer = await tinker.serve();
const front = await troubledServer(models.url);
const trainingFront = await troubledServer(trainer.url);
afterAll(async () => {
  front.close();
  trainingFront.close();
  await Promise.all([models.close(), trainer.close()]);
  await Promise.all([close(), tinker.close()]);
});

const timeoutMs = 300;
const limits = { timeoutMs, attempts: 2, backoff: { firstMs: 1, longestMs: 2 }, maxAnswerBytes: 1_000_000 };
const { tokenizer } = model;
const at = { ...limits, url: front.url, token, tokenizer, vocabularySize: model.config.vocabularySize };
const prompt = tokenizer.encode('once upon');
const request = { prompt, count: 1, maxTokens: 2, seed: 'a' };
const vllm = await createVllmSampler(at);
const sglang = await createSglangSampler(at);
const chat = chatAgentPolicy({ ...limits, url: `${front.url}/v1`, token, model: 'tiny', maxTokens: 2 });
const backend = await createTinkerBackend({
  ...{ ...limits, url: trainingFront.url, apiKey: key, vocabularySize: letters.vocabularySize, rank: 2 },
  ...{ deadlineMs: 4 * timeoutMs, reduction: 'sum', heartbeatMs: 60_000 },
});
await backend.publish({ as: 'shared' });
const tinkerSampler = createTinkerSampler({ backend, tokenizer: letters, contextLength: 32 });

type Ask = (options?: { readonly signal: AbortSignal }) => Promise<unknown>;

const drivers: Readonly<
  Record<string, { readonly server: typeof front; readonly secret: string; readonly ask: Ask }>
> = {
  'the vLLM driver': {
    server: front,
    secret: token,
    ask: (options) => vllm.sample({ ...request, ...options }),
  },
  'the SGLang driver': {
    server: front,
    secret: token,
    ask: (options) => sglang.sample({ ...request, ...options }),
  },
  'the chat policy': {
    ...{ server: front, secret: token },
    ask: (options) => chat.getAction('once upon', undefined, options),
  },
  'the Tinker backend': {
    ...{ server: trainingFront, secret: key },
    ask: (options) => Promise.resolve(backend.logprobs([[3, 4, 5]], options)),
  },
  'the Tinker sampler': {
    ...{ server: trainingFront, secret: key },
    ask: (options) => tinkerSampler.sample({ prompt: [3, 4], count: 1, maxTokens: 2, seed: 'a', ...options }),
  },
};

describe.each(Object.entries(drivers))('%s', (_, { server, secret, ask }) => {
  it.each(Object.entries(troubles))(
    'says what to do where the server %s, in time, and goes on after',
    async (_, trouble) => {
      server.begin(trouble);
      const begun = performance.now();
      const error = await ask().then(
        () => expect.unreachable('answered'),
        (one: unknown) => one as Error,
      );
      server.end();
      expect(performance.now() - begun).toBeLessThan(5 * timeoutMs);
      expect(error).toBeInstanceOf(RlpError);
      expect(error.message).toContain(server.url);
      expect(error.message).toMatch(
        /; (?:check|raise|lower|sample|see|correct|the server is busy)\b|set the url/,
      );
      expect(error.message.length).toBeLessThan(500);
      expect(JSON.stringify([error.message, error.stack, String(error.cause)])).not.toContain(secret);
      await ask();
    },
  );

  it.each(Object.entries(passing))('tries again where the server %s', async (_, trouble) => {
    server.begin(trouble, 1);
    await ask();
    server.end();
  });

  it('ends within 100 ms of an abort, with its reason', async () => {
    server.begin(troubles['never answers']);
    const controller = new AbortController();
    const asked = ask({ signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    const begun = performance.now();
    await expect(asked).rejects.toThrow('enough');
    expect(performance.now() - begun).toBeLessThan(150);
    server.end();
    await ask();
  });
});
