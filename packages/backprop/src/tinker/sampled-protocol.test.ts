import { SamplerError } from '@rlp/core';
import { RequestError } from '@rlp/http/client';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { StubTinker, stubVocabulary } from '../testing/stub-tinker.ts';
import { createTinkerBackend, createTinkerSampler, type TinkerBackendOptions } from '../tinker.ts';
import { chunksOf } from './chunks.ts';
import { gradientInput, scoringInput } from './gradients.ts';
import { normIn } from './probe.ts';

const tokenizer = characterTokenizer('abcd', { begin: '<s>', end: '</s>' });
const create = (server: StubTinker, options: Partial<TinkerBackendOptions> = {}) =>
  createTinkerBackend({
    ...{ url: 'http://server.test', vocabularySize: stubVocabulary, fetch: server.fetch, reduction: 'sum' },
    ...{ learningRate: 0.01, contextLength: 16, backoff: { firstMs: 1, longestMs: 2 } },
    ...options,
  });

const asked = (server: StubTinker, path: string) =>
  server.asked.filter((one) => one.path === path).map(({ body }) => body);

describe('inputs of a Tinker server', () => {
  const contribution = { tokens: [0, 3, 2], anchors: [0, -1, -2], slopes: Float64Array.of(0, 0.5, -0.25) };
  const target_tokens = { data: [3, 2], dtype: 'int64', shape: [2] };
  const floats = (...data: number[]) => ({ data, dtype: 'float32', shape: [data.length] });
  const model_input = expect.objectContaining({ chunks: [expect.objectContaining({ tokens: [0, 3] })] });

  it('take derivatives as weights of a cross-entropy', () => {
    const native = { name: 'cross_entropy', anchor: undefined, low: 0, high: 1 } as const;
    const loss_fn_inputs = { target_tokens, weights: floats(-0.5, 0.25) };
    expect(gradientInput([contribution], native, 'sum')).toEqual({
      ...{ data: [{ model_input, loss_fn_inputs }], loss_fn: 'cross_entropy' },
    });
  });

  it.each([
    ['ppo', { clip_low_threshold: 0.8, clip_high_threshold: 1.2 }],
    ['cispo', { clip_low_threshold: 0.8, clip_high_threshold: 1.2 }],
    ['importance_sampling', undefined],
  ] as const)('take them as advantages of %s, with its bounds', (name, config) => {
    const native = { name, anchor: 'behaviorLogprobs', low: 0.8, high: 1.2 } as const;
    const inputs = (...advantages: number[]) => ({
      ...{ target_tokens, advantages: floats(...advantages), logprobs: floats(-1, -2) },
    });
    const input = (loss_fn_inputs: object) => ({
      ...{ data: [{ model_input, loss_fn_inputs }], loss_fn: name },
      ...(config && { loss_fn_config: config }),
    });
    expect(gradientInput([contribution], native, 'sum')).toEqual(input(inputs(-0.5, 0.25)));
    // A mean over two tokens.
    expect(gradientInput([contribution], native, 'means')).toEqual(input(inputs(-1, 0.5)));
  });

  it('score with weights of 0', () => {
    const loss_fn_inputs = { target_tokens, weights: floats(0, 0) };
    expect(scoringInput([[0, 3, 2]])).toEqual({
      ...{ data: [{ model_input, loss_fn_inputs }], loss_fn: 'cross_entropy' },
    });
  });

  it('are cut at their number and at their bytes, 48 for each token', () => {
    const items = [2, 2, 2, 5, 1].map((length) => ({ tokens: Array.from({ length }, () => 1) }));
    const lengths = (sequencesPerRequest: number, bytesPerRequest: number) =>
      chunksOf(items, { sequencesPerRequest, bytesPerRequest }).map((chunk) =>
        chunk.map(({ tokens }) => tokens.length),
      );
    expect(lengths(2, 1e6)).toEqual([[2, 2], [2, 5], [1]]);
    expect(lengths(9, 4 * 48)).toEqual([[2, 2], [2], [5], [1]]);
    expect(lengths(9, 4 * 48 - 1)).toEqual([[2], [2], [2], [5], [1]]);
    expect(lengths(9, 6 * 48)).toEqual([
      [2, 2, 2],
      [5, 1],
    ]);
  });

  it('have their norms among other metrics', () => {
    expect(normIn({ loss: 1, mhc_grad_norm: 9, 'skyrl.ai/grad_norm': 2 })).toBe(2);
    expect(normIn({ gradient_norm: 3 })).toBe(3);
    expect(normIn({ grad_norm_max: 3, weight_norm: 4 })).toBeUndefined();
  });
});

describe('a sampler on a Tinker server', () => {
  const start = async () => {
    const server = new StubTinker('sum');
    const backend = await create(server, { attempts: 1 });
    return { server, backend, sampler: createTinkerSampler({ backend, tokenizer, contextLength: 16 }) };
  };
  const request = { prompt: [0, 3], count: 1, maxTokens: 2, seed: 'a' };

  it('shares the weights of its backend, and wants a tokenizer', async () => {
    const { backend, sampler } = await start();
    expect(sampler.shares).toEqual({ engine: backend.session, store: 'tinker' });
    expect(sampler.vocabularySize).toBe(stubVocabulary);
    for (const wrong of [null, undefined, {}]) {
      expect(() => createTinkerSampler({ backend, tokenizer: wrong as never })).toThrow(
        'tokenizer: must be a tokenizer; loadTokenizer of @rlp/models reads one from the folder of the model',
      );
    }
    expect(() => createTinkerSampler({ backend: {} as never, tokenizer })).toThrow(
      /^createTinkerSampler: invalid options[\s\S]*backend: must be a backend of createTinkerBackend/,
    );
  });

  it('takes no files, wherever they come from', async () => {
    const { backend, sampler } = await start();
    const { version } = await backend.publish({ as: 'shared' });
    const files = { kind: 'checkpoint', version, path: '/weights/1', engine: backend.session } as const;
    await expect(sampler.updateWeights(files)).rejects.toThrow(
      `updateWeights: expected version 1 of the backend's session, got version 1 as checkpoint`,
    );
  });

  it('says what to do where a request fails, and keeps its cause', async () => {
    const { server, sampler } = await start();
    server.fault = (path) =>
      path === '/asample' ? { status: 429, body: { detail: 'slow down' } } : undefined;
    const sampling = sampler.sample(request);
    await expect(sampling).rejects.toThrow(SamplerError);
    await expect(sampling).rejects.toThrow(
      /^sample: .*429 \("slow down"\); the server is busy; sample less at once$/,
    );
    const failed = (await sampling.catch((error: unknown) => error)) as Error;
    expect(failed.cause).toBeInstanceOf(RequestError);
    const reason = new Error('enough');
    const stop = new AbortController();
    server.fault = () => new Promise(() => undefined);
    const aborted = sampler.sample({ ...request, signal: stop.signal });
    stop.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    const signal = AbortSignal.abort(reason);
    for (const call of [
      () => sampler.sample({ ...request, signal }),
      () => sampler.scoreTokens([], { signal }),
      () => sampler.updateWeights({ kind: 'shared', version: 1, engine: {}, store: 'x' }, signal),
    ]) {
      await expect(call()).rejects.toBe(reason);
    }
  });

  it.each([
    [
      { tokens: [stubVocabulary], logprobs: [-1] },
      `expected tokens below ${stubVocabulary}, got ${stubVocabulary};`,
    ],
    [{ tokens: [-1], logprobs: [-1] }, 'got -1; check that the server serves the model of the tokenizer'],
    [
      { tokens: [], logprobs: [] },
      'sample: http://server.test/api/v1: expected 1 to 2 tokens of a completion, got 0',
    ],
    [{ tokens: [1, 1, 1], logprobs: [-1, -1, -1] }, 'got 3'],
    [{ tokens: [1, 1], logprobs: null }, 'expected 2 natural logarithms of probabilities, got 0 of them'],
  ])('refuses %j', async (sequence, message) => {
    const { server, sampler } = await start();
    const answer = { sequences: [{ stop_reason: 'length', ...sequence }] };
    server.fault = (path) => (path === '/retrieve_future' ? { body: answer } : undefined);
    await expect(sampler.sample(request)).rejects.toThrow(message);
  });

  it('takes the last token of the vocabulary, and logprobs that rounding took above 0', async () => {
    const { server, sampler } = await start();
    const sequences = [{ stop_reason: 'stop', tokens: [stubVocabulary - 1], logprobs: [1e-3] }];
    server.fault = (path) =>
      path === '/retrieve_future' ? { body: { sequences, prompt_logprobs: [null, 1e-3] } } : undefined;
    const [completion] = await sampler.sample(request);
    expect(completion).toMatchObject({
      tokens: [stubVocabulary - 1],
      behaviorLogprobs: [0],
      stopReason: 'stop',
    });
    const [scores] = await sampler.scoreTokens([{ prompt: [0], completion: [3] }]);
    expect(scores!.logprobs).toEqual(Float32Array.of(0));
  });

  it('scores a prompt with one token behind it', async () => {
    const { server, sampler } = await start();
    await sampler.scoreTokens([{ prompt: [0, 3], completion: [2] }]);
    expect(asked(server, '/asample')).toMatchObject([
      {
        ...{ num_samples: 1, prompt_logprobs: true, base_model: 'tiny', type: 'sample' },
        sampling_params: { max_tokens: 1, temperature: 1, seed: 0 },
      },
    ]);
  });
});
