import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { ArgumentError, SamplerError, type ScoreRequest } from '@rlp/core';
import { describeTokenScorer } from '@rlp/core/testing';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StubTinker, stubVocabulary } from '../testing/stub-tinker.ts';
import { createTinkerBackend, createTinkerSampler } from '../tinker.ts';

const tokenizer = characterTokenizer('abcd', { begin: '<s>', end: '</s>' });
const request = { prompt: [0, 3], count: 1, maxTokens: 6, seed: 'a' };

async function start() {
  const server = new StubTinker('sum');
  const backend = await createTinkerBackend({
    ...{ url: 'http://server.test', vocabularySize: stubVocabulary, fetch: server.fetch, attempts: 1 },
    ...{ learningRate: 0.5, contextLength: 16, backoff: { firstMs: 1, longestMs: 2 } },
  });
  const sampler = createTinkerSampler({ backend, tokenizer, contextLength: 16 });
  const asked = () => server.asked.filter(({ path }) => path === '/asample').map(({ body }) => body);
  return { server, backend, sampler, asked };
}

describeTokenScorer('createTinkerSampler', {
  create: async () => (await start()).sampler,
  requests: [
    { prompt: [0, 3], completion: [2, 4, 5] },
    { prompt: [0], completion: [4, 2] },
  ],
  vocabularySize: stubVocabulary,
  entropies: 'unknown',
});

describe('createTinkerSampler', () => {
  it('scores what it samples as it was sampled, with the weights that were published', async () => {
    const { backend, sampler, asked } = await start();
    const scored = async () => {
      const [completion] = await sampler.sample({ ...request, stopTokens: [1] });
      const [scores] = await sampler.scoreTokens([{ prompt: [0, 3], completion: completion!.tokens }]);
      const expected = completion!.behaviorLogprobs.map((logprob) => expect.closeTo(logprob, 5));
      expect([...scores!.logprobs]).toEqual(expected);
      return completion!.behaviorLogprobs[0];
    };
    const before = await scored();
    expect(asked().every(({ base_model: model }) => model === 'tiny')).toBe(true);
    const tokens = [0, 3, 2, 5];
    const row = { tokens, mask: [0, 1, 1, 1], weights: [0, 1, 1, 1], columns: {} };
    await backend.forwardBackward(
      { sequences: [row] },
      { key: 'nll', columns: [], compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }) },
    );
    await backend.optimStep();
    await sampler.updateWeights(await backend.publish({ as: 'shared' }));
    expect(await scored()).not.toBe(before);
    expect(asked().at(-1)).toMatchObject({ model_path: expect.stringMatching(/sampler_weights/) });
  });

  it('sends filters, and stops at end tokens and at those of the request', async () => {
    const { sampler, asked } = await start();
    await sampler.sample({ ...request, maxTokens: 40, stopTokens: [4], topK: 3, topP: 0.5, temperature: 0 });
    await sampler.sample(request);
    const [filtered, plain] = asked().map(({ sampling_params: params }) => params);
    const shown = { max_tokens: 14, temperature: 0, stop: [...tokenizer.eosIds, 4], top_k: 3, top_p: 0.5 };
    expect(filtered).toMatchObject(shown);
    expect(plain).toMatchObject({
      max_tokens: 6,
      temperature: 1,
      stop: tokenizer.eosIds,
      top_k: -1,
      top_p: 1,
    });
  });

  it('cuts tokens behind a stop string, and reports those that count', async () => {
    const { sampler } = await start();
    const [free] = await sampler.sample({ ...request, maxTokens: 12 });
    const letter = tokenizer.decode([free!.tokens[1]!]);
    const reported: unknown[] = [];
    const [cut] = await sampler.sample({
      ...{ ...request, maxTokens: 12, stopStrings: [letter] },
      onToken: ({ token, logprob }) => reported.push([token, logprob]),
    });
    const length = free!.tokens.findIndex((token) => tokenizer.decode([token]) === letter) + 1;
    expect(cut!.tokens).toEqual(free!.tokens.slice(0, length));
    expect(cut!.stopReason).toBe('stop');
    expect(cut!.text).not.toContain(letter);
    expect(reported).toEqual(cut!.tokens.map((token, t) => [token, cut!.behaviorLogprobs[t]]));
  });

  it.each([
    [{ count: 0 }, 'count must be a positive integer, got 0'],
    [{ maxTokens: 1.5 }, 'maxTokens must be a positive integer, got 1.5'],
    [{ prompt: [] }, 'expected a prompt of 1 to 15 tokens, got 0'],
    [{ prompt: [0, 6] }, 'token 6 is outside the vocabulary of 6'],
    [{ prompt: [0, -1] }, 'token -1 is outside the vocabulary of 6'],
    [{ minP: 0.1 }, 'no minP and no repetitionPenalty'],
    [{ repetitionPenalty: 1.1 }, 'no minP and no repetitionPenalty'],
    [{ temperature: 2 }, 'computes logprobs at temperature 1, got 2'],
  ])('refuses to sample %o', async (change, message) => {
    const { sampler, asked } = await start();
    const sampling = sampler.sample({ ...request, ...change });
    await expect(sampling).rejects.toThrow(ArgumentError);
    await expect(sampling).rejects.toThrow(message);
    expect(asked()).toEqual([]);
  });

  it.each<[ScoreRequest, string]>([
    [{ prompt: [], completion: [3] }, 'a prompt of at least one token, and below 16 tokens'],
    [{ prompt: [0], completion: new Array<number>(15).fill(3) }, 'got 1 and 15'],
    [{ prompt: [0, 6], completion: [3] }, 'scoreTokens: token 6 is outside the vocabulary of 6'],
    [{ prompt: [0], completion: [0.5] }, 'scoreTokens: token 0.5 is outside the vocabulary of 6'],
  ])('refuses to score %o', async (pair, message) => {
    const { sampler, asked } = await start();
    const scoring = sampler.scoreTokens([pair]);
    await expect(scoring).rejects.toThrow(ArgumentError);
    await expect(scoring).rejects.toThrow(message);
    expect(asked()).toEqual([]);
  });

  it('scores as much as fits, at temperature 1 only', async () => {
    const { sampler } = await start();
    const pair = { prompt: [0], completion: new Array<number>(14).fill(3) };
    const [scores] = await sampler.scoreTokens([pair]);
    expect(scores!.logprobs).toHaveLength(14);
    await expect(sampler.scoreTokens([pair], { temperature: 2 })).rejects.toThrow(
      "Tinker's protocol scores at temperature 1, got 2; leave it out",
    );
  });

  it.each<[string, unknown, string]>([
    ['no logprobs', null, 'expected logprobs of 4 tokens of a prompt, got none'],
    ['too few', [null, -1, -1], 'got 3'],
    ['positive ones', [null, -1, 1, -1], 'got 4'],
    ['one left out', [null, -1, null, -1], 'got 4'],
  ])('refuses scores with %s', async (_, scores, message) => {
    const { server, sampler } = await start();
    const sequences = [{ stop_reason: 'length', tokens: [1], logprobs: [-1] }];
    server.fault = (path) =>
      path === '/retrieve_future' ? { body: { sequences, prompt_logprobs: scores } } : undefined;
    const scoring = sampler.scoreTokens([{ prompt: [0, 3], completion: [2, 4] }]);
    await expect(scoring).rejects.toThrow(SamplerError);
    await expect(scoring).rejects.toThrow(message);
  });

  it('refuses fewer completions, and says what failed on the server', async () => {
    const { server, sampler } = await start();
    const sequence = { stop_reason: 'length', tokens: [3, 3, 3], logprobs: [-1, -1, -1] };
    const answers = [
      { body: { sequences: [sequence] } },
      { body: { error: 'out of memory', category: 'server' } },
      { status: 400, body: { detail: 'bad prompt' } },
    ];
    server.fault = (path) => (path === '/retrieve_future' ? answers.shift() : undefined);
    for (const message of ['expected 2 completions, got 1', 'out of memory', 'bad prompt']) {
      const sampling = sampler.sample({ ...request, count: 2, maxTokens: 3 });
      await expect(sampling).rejects.toThrow(SamplerError);
      await expect(sampling).rejects.toThrow(message);
    }
  });

  it('takes over the last publication of its backend only', async () => {
    const { backend, sampler } = await start();
    expect([sampler.vocabularySize, sampler.policyVersion]).toEqual([stubVocabulary, 0]);
    const first = await backend.publish({ as: 'shared' });
    expect(await sampler.updateWeights(first)).toBe(first.version);
    const last = await backend.publish({ as: 'shared' });
    await expect(sampler.updateWeights(first)).rejects.toThrow(
      `expected version ${last.version} of the backend's session, got version ${first.version} as shared`,
    );
    const other = { ...last, engine: {} } as typeof last;
    await expect(sampler.updateWeights(other)).rejects.toThrow(SamplerError);
    expect(sampler.policyVersion).toBe(first.version);
  });

  it('says version 0 for the base model, and takes no earlier weights for those of a loaded checkpoint', async () => {
    const { backend, asked } = await start();
    const directory = mkdtempSync(`${tmpdir()}/rlp-tinker-`);
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const first = await backend.publish({ as: 'shared' });
    await backend.saveCheckpoint(`${directory}/first`);
    await backend.publish({ as: 'shared' });
    await backend.loadCheckpoint(`${directory}/first`);
    const sampler = createTinkerSampler({ backend, tokenizer, contextLength: 16 });
    expect([backend.weightVersion, sampler.policyVersion]).toEqual([1, 0]);
    await sampler.sample(request);
    expect(asked().at(-1)).toMatchObject({ base_model: 'tiny' });
    await expect(sampler.updateWeights(first)).rejects.toThrow('publish again, as after each loadCheckpoint');
    expect(await sampler.updateWeights(await backend.publish({ as: 'shared' }))).toBe(2);
  });
});
