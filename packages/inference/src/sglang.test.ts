import { SamplerError } from '@rlp/core';
import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import type { Fetch } from '@rlp/http/client';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { createSglangSampler } from './sglang.ts';
import { drawStub, stubLogprobs, stubVocabulary } from './testing/stub-vllm.ts';

const tokenizer = characterTokenizer('abcdefghijklmn', { begin: '<s>', end: '</s>' });

/** A server with the routes of SGLang that the driver asks, in the shapes of its documentation. No real server was asked. */
class StubSglang {
  readonly asked: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
  weights = 'base';
  version = 'default';
  /** What `/update_weights_from_disk` does. */
  mode: 'loads' | 'answers 200 and fails' | 'answers 200 and keeps old weights' = 'loads';
  readonly #adapters = new Map<string, string>();

  readonly fetch: Fetch = async (url, { body: text }) => {
    const path = new URL(url).pathname;
    const body = JSON.parse(text ?? '{}') as Record<string, unknown>;
    this.asked.push({ path, body });
    const answer = this.#answer(path, body);
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
    const settings = { ...sampling, max_tokens: sampling.max_new_tokens, seed: sampling.sampling_seed };
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

const create = (server: StubSglang) =>
  createSglangSampler({
    ...{ url: 'http://server.test:30000', tokenizer, fetch: server.fetch },
    backoff: { firstMs: 1, longestMs: 2 },
  });

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
    expect(await sampler.sample({ prompt: [0, 5], count: 2, maxTokens: 3, seed: 'a' })).toHaveLength(2);
  });
});
