import { ArgumentError, type Completion, OptionsError, SamplerError } from '@rlp/core';
import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import type { Fetch } from '@rlp/http/client';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it, vi } from 'vitest';
import { createSglangSampler, type SglangSamplerOptions } from './sglang.ts';
import { drawStub, stubLogprobs, stubVocabulary } from './testing/stub-vllm.ts';

const tokenizer = characterTokenizer('abcdefghijklmn', { begin: '<s>', end: '</s>' });

/** A server with the routes of SGLang that the driver asks, in the shapes of its documentation. No real server was asked. */
class StubSglang {
  readonly asked: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  weights = 'base';
  version = 'default';
  /** What `/update_weights_from_disk` does. */
  mode: 'loads' | 'answers 200 and fails' | 'answers 200 and keeps old weights' = 'loads';
  /** Whether its logprobs are those of the sampling temperature. */
  logprobs: 'raw' | 'tempered' = 'raw';
  /** Changes the answer of a path. */
  fault: (path: string, answer: unknown) => unknown = (_, answer) => answer;
  readonly #adapters = new Map<string, string>();

  readonly fetch: Fetch = async (url, { body: text }) => {
    const path = new URL(url).pathname;
    const body = JSON.parse(text ?? '{}') as Record<string, unknown>;
    this.asked.push({ path, body });
    const answer = this.fault(path, this.#answer(path, body));
    return {
      status: answer === undefined ? 400 : 200,
      headers: { get: () => null },
      text: async () => JSON.stringify(answer ?? {}),
    };
  };

  #answer(path: string, body: Record<string, unknown>): unknown {
    switch (path) {
      case '/get_model_info':
        return { model_path: '/models/tiny', tokenizer_path: '/models/tiny', is_generation: true };
      case '/get_server_info':
        return { context_length: 32 };
      case '/get_weight_version':
        return { weight_version: this.version };
      case '/load_lora_adapter':
        if (/missing/.test(String(body.lora_path))) return { success: false, message: 'No such adapter' };
        this.#adapters.set(String(body.lora_name), String(body.lora_path));
        return { success: true };
      case '/update_weights_from_disk':
        if (/missing/.test(String(body.model_path)) || this.mode === 'answers 200 and fails') {
          return { success: false, message: 'No such directory' };
        }
        if (this.mode === 'loads') {
          this.weights = String(body.model_path);
          this.version = String(body.weight_version);
        }
        return { success: true, message: 'Succeeded' };
      case '/generate':
        return this.#generate(body);
      default:
        return { success: true };
    }
  }

  #generate(body: Record<string, unknown>) {
    const prompt = body.input_ids as number[];
    const weights = this.#adapters.get(String(body.lora_path)) ?? this.weights;
    const input = prompt.map((token, t) => [
      t === 0 ? null : stubLogprobs(weights, prompt[t - 1]!)[token]!,
      token,
      null,
    ]);
    const sampling = body.sampling_params as Record<string, unknown>;
    const named = { logprobs_mode: this.logprobs, stop_token_ids: sampling.stop_token_ids };
    const settings = {
      ...sampling,
      ...named,
      max_tokens: sampling.max_new_tokens,
      seed: sampling.sampling_seed,
    };
    const { tokens, logprobs, finish } = drawStub(prompt, settings, weights, 0);
    const output = tokens.map((token, t) => [logprobs[t], token, null]);
    const meta_info = {
      input_token_logprobs: input,
      output_token_logprobs: output,
      weight_version: this.version,
    };
    return { text: '', meta_info: { ...meta_info, finish_reason: { type: finish } } };
  }
}

/** What an answer of `/generate` says about its tokens. */
interface Meta {
  readonly input_token_logprobs: readonly unknown[];
}

const create = (server: StubSglang, options: Partial<SglangSamplerOptions> = {}) =>
  createSglangSampler({
    ...{ url: 'http://server.test:30000', tokenizer, fetch: server.fetch },
    ...{ backoff: { firstMs: 1, longestMs: 2 }, ...options },
  });
const request = { prompt: [0, 5], count: 2, maxTokens: 3, seed: 'a' };

describeSampler('SGLang', {
  create: () => create(new StubSglang()),
  prompt: [0, 5, 6],
  tooLongPrompt: Array.from({ length: 40 }, () => 5),
});
describeTokenScorer('SGLang', {
  create: () => create(new StubSglang()),
  requests: [
    { prompt: [0, 5], completion: [6, 7, 8] },
    { prompt: [0], completion: [9, 10] },
  ],
  vocabularySize: stubVocabulary,
  entropies: 'unknown',
});
for (const kind of ['adapter', 'checkpoint'] as const) {
  describeInferenceEngine(`SGLang by ${kind}`, {
    create: () => create(new StubSglang()),
    publication: (version) => ({ kind, version, path: `/weights/${version}` }),
    impossible: (version) => ({ kind, version, path: '/weights/missing' }),
    prompt: [0, 5],
  });
}

describe('createSglangSampler', () => {
  it('stops the scheduler, empties the cache, loads, and goes on', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    server.asked.length = 0;
    await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' });
    expect(server.asked.map(({ path }) => path)).toEqual([
      ...['/pause_generation', '/flush_cache', '/update_weights_from_disk'],
      ...['/continue_generation', '/get_weight_version'],
    ]);
    expect(server.asked[2]!.body).toMatchObject({ model_path: '/weights/1', weight_version: '1' });
  });

  it.each([
    ['answers 200 and fails', /No such directory/],
    ['answers 200 and keeps old weights', /took version 1 and does not have it/],
  ] as const)('refuses a server that %s, and goes on', async (mode, message) => {
    const server = new StubSglang();
    const sampler = await create(server);
    server.mode = mode;
    const update = sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' });
    await expect(update).rejects.toThrow(SamplerError);
    await expect(update).rejects.toThrow(message);
    expect(server.asked.map(({ path }) => path)).toContain('/continue_generation');
    expect(await sampler.sample(request)).toHaveLength(2);
  });

  it('restores the weights that were there when a checkpoint fails', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    const checkpoint = (version: number, path: string) => ({ kind: 'checkpoint', version, path }) as const;
    await expect(sampler.updateWeights(checkpoint(1, '/weights/missing'))).rejects.toThrow(
      'No such directory',
    );
    expect([server.weights, server.version]).toEqual(['/models/tiny', 'default']);
    await sampler.updateWeights(checkpoint(2, '/weights/2'));
    await expect(sampler.updateWeights(checkpoint(3, '/weights/missing'))).rejects.toThrow(SamplerError);
    expect([server.weights, server.version]).toEqual(['/weights/2', '2']);
  });

  it('unloads an adapter that another one replaced', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    for (const version of [1, 2])
      await sampler.updateWeights({ kind: 'adapter', version, path: `/weights/${version}` });
    const { path, body } = server.asked.at(-1)!;
    expect([path, body]).toEqual(['/unload_lora_adapter', { lora_name: expect.stringMatching(/^rlp-1-/) }]);
    const begun = server.asked.length;
    await sampler.updateWeights({ kind: 'checkpoint', version: 3, path: '/weights/3' });
    await sampler.updateWeights({ kind: 'checkpoint', version: 4, path: '/weights/4' });
    const unloads = server.asked.slice(begun).filter((asked) => asked.path === '/unload_lora_adapter');
    expect(unloads).toHaveLength(1);
  });

  it('empties the cache again while the server refuses because requests run', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    let refusals = 1;
    server.fault = (path, answer) => (path === '/flush_cache' && refusals-- > 0 ? undefined : answer);
    expect(await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' })).toBe(1);
    expect(server.asked.filter(({ path }) => path === '/flush_cache')).toHaveLength(2);
  });

  it('samples at any temperature from a server whose logprobs are those of the sampling temperature', async () => {
    const raw = await create(new StubSglang());
    await expect(raw.sample({ ...request, temperature: 0.5 })).rejects.toThrow(
      'this SGLang gives logprobs at temperature 1, got temperature 0.5; sample at 1, or start it without',
    );
    const tempered = await create(Object.assign(new StubSglang(), { logprobs: 'tempered' as const }));
    expect(await tempered.sample({ ...request, temperature: 0.5 })).toHaveLength(2);
  });

  it('sends stops and filters under the names of SGLang, and asks for them only if there are some', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    await sampler.sample({ ...request, stopTokens: [9], stopStrings: ['b'], topK: 5, topP: 0.5, minP: 0.1 });
    await sampler.sample(request);
    const [, , , plain] = server.asked.slice(-4).map(({ body }) => body.sampling_params);
    const [, filtered] = server.asked.slice(-4).map(({ body }) => body.sampling_params);
    expect(filtered).toMatchObject({ stop_token_ids: [9], stop: ['b'], top_k: 5, top_p: 0.5, min_p: 0.1 });
    expect(plain).toMatchObject({ top_k: -1, top_p: 1, min_p: 0, repetition_penalty: 1 });
    expect(server.asked.at(-1)!.body).toMatchObject({
      input_ids: [0, 5],
      return_logprob: true,
      stream: false,
    });
    expect(plain).not.toHaveProperty('stop');
    expect(plain).not.toHaveProperty('stop_token_ids');
  });

  it.each<[string, string, (meta: Meta) => object, RegExp]>([
    [
      'no tokens',
      'sample',
      (meta) => ({ ...meta, output_token_logprobs: null }),
      /expected output_token_logprobs/,
    ],
    [
      'a request that it gave up',
      'sample',
      (meta) => ({ ...meta, finish_reason: { type: 'abort', message: 'out of memory' } }),
      /gave up the request: out of memory/,
    ],
    [
      'a request that it gave up without reason',
      'sample',
      (meta) => ({ ...meta, finish_reason: { type: 'abort' } }),
      /gave up the request: no reason/,
    ],
    [
      'weights of another version',
      'sample',
      (meta) => ({ ...meta, weight_version: '7' }),
      /expected weights of version 1, got "7"/,
    ],
    [
      'scores of other tokens',
      'score',
      (meta) => ({ ...meta, input_token_logprobs: meta.input_token_logprobs.toReversed() }),
      /scored other tokens than were sent/,
    ],
    [
      'no scores',
      'score',
      (meta) => ({ ...meta, input_token_logprobs: null }),
      /expected logprobs of 3 prompt tokens, got 0/,
    ],
  ])('refuses an answer with %s', async (_, what, change, message) => {
    const server = new StubSglang();
    const sampler = await create(server, { attempts: 1 });
    await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' });
    server.fault = (path, answer) =>
      path === '/generate' ? { meta_info: change((answer as { meta_info: Meta }).meta_info) } : answer;
    const asked =
      what === 'sample'
        ? sampler.sample(request)
        : sampler.scoreTokens([{ prompt: [0, 5], completion: [6] }]);
    await expect(asked).rejects.toThrow(SamplerError);
    await expect(asked).rejects.toThrow(message);
  });

  it('refuses an answer without its description', async () => {
    const server = new StubSglang();
    const sampler = await create(server, { attempts: 1 });
    server.fault = () => ({ text: 'hello' });
    await expect(sampler.sample(request)).rejects.toThrow('expected meta_info, got another body');
  });

  it('says at the start what is wrong', async () => {
    const answering = (path: string, body: unknown) =>
      Object.assign(new StubSglang(), {
        fault: (asked: string, answer: unknown) => (asked === path ? body : answer),
      });
    const other = create(answering('/get_model_info', { name: 'tiny' }));
    await expect(other).rejects.toThrow(ArgumentError);
    await expect(other).rejects.toThrow(
      /^createSglangSampler: .*expected model_path of SGLang, got another body/,
    );
    await expect(create(new StubSglang(), { model: 'big' })).rejects.toThrow(
      'expected the model "big" at http://server.test:30000, got /models/tiny',
    );
    expect((await create(new StubSglang(), { model: '/models/tiny' })).contextLength).toBe(32);
    const silent = answering('/get_server_info', {});
    await expect(create(silent)).rejects.toThrow('does not say its context length; set contextLength');
    expect((await create(silent, { contextLength: 9 })).contextLength).toBe(9);
    const wrong = { renderer: {} as never, remotePath: '/mnt' as never };
    await expect(create(new StubSglang(), wrong)).rejects.toThrow(OptionsError);
    await expect(create(new StubSglang(), wrong)).rejects.toThrow(
      /must be a chat renderer[\s\S]*must be a function/,
    );
  });

  it('names directories as the server sees them, and takes a chat format', async () => {
    const server = new StubSglang();
    const renderer = { render: () => [0] };
    const sampler = await create(server, { renderer, remotePath: (path) => `/mnt${path}` });
    expect(sampler.renderer).toBe(renderer);
    await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' });
    expect(server.weights).toBe('/mnt/weights/1');
  });

  it('gives back what it began with if a checkpoint fails after an adapter', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'adapter', version: 1, path: '/weights/1' });
    const missing = { kind: 'checkpoint', version: 2, path: '/weights/missing' } as const;
    await expect(sampler.updateWeights(missing)).rejects.toThrow('No such directory');
    const loads = server.asked.filter(({ path }) => path === '/update_weights_from_disk');
    expect(loads.map(({ body }) => body)).toEqual([
      { model_path: '/weights/missing', weight_version: '2', abort_all_requests: true },
      { model_path: '/models/tiny', weight_version: 'default', abort_all_requests: true },
    ]);
    expect(server.asked.at(-1)!.path).toBe('/continue_generation');
  });

  it('samples with the adapter that was published, under its name', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'adapter', version: 1, path: '/weights/1' });
    const [{ tokens, behaviorLogprobs }] = (await sampler.sample(request)) as [Completion, Completion];
    expect(server.asked.at(-1)!.body.lora_path).toBe('rlp-1--weights-1');
    expect(behaviorLogprobs[0]).toBe(stubLogprobs('/weights/1', 5)[tokens[0]!]);
    const long = `/${'x'.repeat(100)}/1`;
    await sampler.updateWeights({ kind: 'adapter', version: 2, path: long });
    expect(server.asked.find(({ body }) => body.lora_path === long)!.body.lora_name).toBe(
      `rlp-2-${'x'.repeat(78)}-1`,
    );
  });

  it('takes commands that are answered by a sentence, and versions that are not told for lost', async () => {
    const server = new StubSglang();
    const fetch: Fetch = async (url, init) => {
      const answer = await server.fetch(url, init);
      return url.endsWith('_generation') ? { ...answer, text: async () => 'Paused.' } : answer;
    };
    const sampler = await create(server, { fetch });
    const checkpoint = (version: number) =>
      ({ kind: 'checkpoint', version, path: `/weights/${version}` }) as const;
    expect(await sampler.updateWeights(checkpoint(1))).toBe(1);
    server.fault = (path, answer) => (path === '/get_weight_version' ? { detail: 'no' } : answer);
    await expect(sampler.updateWeights(checkpoint(2))).rejects.toThrow('took version 2 and does not have it');
  });

  it('says that a command failed if the server does not say why', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    server.fault = (path, answer) => (path === '/load_lora_adapter' ? { success: false } : answer);
    await expect(sampler.updateWeights({ kind: 'adapter', version: 1, path: '/weights/1' })).rejects.toThrow(
      'http://server.test:30000/load_lora_adapter: it failed',
    );
  });

  it('begins its probe with the bos token, or with a letter', async () => {
    const probed = async (options: Partial<SglangSamplerOptions>) => {
      const server = new StubSglang();
      await create(server, options);
      return server.asked.find(({ path }) => path === '/generate')!.body;
    };
    expect(await probed({})).toMatchObject({ input_ids: [0], return_logprob: true, stream: false });
    const plain = characterTokenizer('abcdefghijklmno', { end: '</s>' });
    expect((await probed({ tokenizer: plain })).input_ids).toEqual(plain.encode('a'));
    expect(plain.encode('a')).not.toEqual([0]);
  });

  it('gives up after a cache could not be emptied for half a minute, or once aborted', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    server.fault = (path, answer) => (path === '/flush_cache' ? undefined : answer);
    const checkpoint = { kind: 'checkpoint', version: 1, path: '/weights/1' } as const;
    const flushes = () => server.asked.filter(({ path }) => path === '/flush_cache').length;
    const stop = new AbortController();
    const aborted = sampler.updateWeights(checkpoint, stop.signal);
    await vi.waitFor(() => expect(flushes()).toBe(1));
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await vi.waitFor(() => expect(server.asked.at(-1)!.path).toBe('/continue_generation'));
    vi.useFakeTimers();
    const update = sampler.updateWeights(checkpoint);
    const refused = expect(update).rejects.toThrow(/^updateWeights: .*flush_cache: .*400/);
    await vi.advanceTimersByTimeAsync(31_000);
    await refused;
    vi.useRealTimers();
    expect(flushes()).toBe(61);
  });

  it('does not wait for a cache on a server that is away', async () => {
    const server = new StubSglang();
    let asked = 0;
    const fetch: Fetch = (url, init) => {
      if (!url.endsWith('/flush_cache')) return server.fetch(url, init);
      asked++;
      return Promise.reject(new TypeError('fetch failed'));
    };
    const sampler = await create(server, { fetch });
    await expect(
      sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' }),
    ).rejects.toThrow('fetch failed');
    expect(asked).toBe(1);
  });

  it('gives each completion of a request the seed after the one before', async () => {
    const server = new StubSglang();
    const sampler = await create(server);
    await sampler.sample({ ...request, count: 3 });
    const seeds = server.asked
      .slice(-3)
      .map(({ body }) => Number((body.sampling_params as Record<string, number>).sampling_seed));
    const next = (seed: number) => (seed + 1) % 2 ** 31;
    expect(seeds.slice(1)).toEqual(seeds.slice(0, 2).map(next));
  });
});
