import { readFileSync } from 'node:fs';
import { ArgumentError, OptionsError, SamplerError } from '@rlp/core';
import { describeInferenceEngine, describeSampler, describeTokenScorer } from '@rlp/core/testing';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { InferenceModule } from './index.ts';
import { type Fault, StubVllm, stubLogprobs, stubVocabulary } from './testing/stub-vllm.ts';
import { completionsSchema, generateSchema, promptLogprobs } from './vllm/wire.ts';
import { createVllmSampler, type VllmSamplerOptions } from './vllm.ts';

const tokenizer = characterTokenizer('abcdefghijklmn', { begin: '<s>', end: '</s>' });
const at = { url: 'http://server.test:8000', tokenizer, backoff: { firstMs: 1, longestMs: 2 } };
const create = (server: StubVllm, options: Partial<VllmSamplerOptions> = {}) =>
  createVllmSampler({ ...at, fetch: server.fetch, ...options });
const request = { prompt: [0, 5, 6], count: 2, maxTokens: 4, seed: 'test' };

for (const generate of [true, false]) {
  const name = generate ? 'vLLM by /inference/v1/generate' : 'vLLM by /v1/completions';
  describeSampler(name, {
    create: () => create(new StubVllm({ generate })),
    prompt: [0, 5, 6],
    tooLongPrompt: Array.from({ length: 40 }, () => 5),
  });
  for (const kind of ['adapter', 'checkpoint'] as const) {
    describeInferenceEngine(`${name}, ${kind}`, {
      create: () => create(new StubVllm({ generate })),
      publication: (version) => ({ kind, version, path: `/weights/${version}` }),
      impossible: (version) => ({ kind, version, path: '/weights/missing' }),
      prompt: [0, 5],
    });
  }
}

const scored = [
  { prompt: [0, 5], completion: [6, 7, 8] },
  { prompt: [0], completion: [9, 10] },
] as const;
describeTokenScorer('vLLM with whole distributions', {
  create: () => create(new StubVllm({ wholeLogprobs: true }), { entropies: 'exact' }),
  requests: scored,
  vocabularySize: stubVocabulary,
});
describeTokenScorer('vLLM', {
  create: () => create(new StubVllm()),
  requests: scored,
  vocabularySize: stubVocabulary,
  entropies: 'unknown',
});

describe('createVllmSampler', () => {
  it('reads what vLLM 0.32 answered', () => {
    const recorded = JSON.parse(
      readFileSync(new URL('./testing/vllm-0.32.json', import.meta.url), 'utf8'),
    ) as Record<'generate' | 'completions', unknown>;
    const [choice] = generateSchema.parse(recorded.generate).choices;
    expect(choice!.token_ids).toEqual([493, 490, 171]);
    expect(choice!.logprobs!.content![0]!.logprob).toBe(-6.371965408325195);
    const [completion] = completionsSchema.parse(recorded.completions).choices;
    const { logprobs } = promptLogprobs(completion!.prompt_logprobs!, [1, 5, 6], 'none');
    expect(logprobs).toEqual([undefined, -6.392247200012207, -6.213934898376465]);
  });

  it('sends tokens, seeds, stops and the version of the weights, and gives tokens back unchanged', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'adapter', version: 3, path: '/weights/3' });
    const completions = await sampler.sample({ ...request, stopTokens: [9], stopStrings: ['b'], topK: 5 });
    const { body } = server.asked.at(-1)!;
    expect(body).toMatchObject({ token_ids: [0, 5, 6], cache_salt: 'weights 3' });
    expect(body.model).toMatch(/^rlp-3-/);
    expect(body.sampling_params).toMatchObject({
      ...{ n: 2, max_tokens: 4, temperature: 1, stop_token_ids: [9], stop: ['b'], top_k: 5 },
    });
    await sampler.sample(request);
    const plain = server.asked.at(-1)!.body.sampling_params;
    expect(plain).toMatchObject({ detokenize: false, top_k: 0, top_p: 1, min_p: 0, repetition_penalty: 1 });
    expect(plain).not.toHaveProperty('stop');
    expect(plain).not.toHaveProperty('stop_token_ids');
    for (const { tokens, behaviorLogprobs } of completions) {
      const context = [6, ...tokens];
      expect(behaviorLogprobs).toEqual(
        tokens.map((token, t) => stubLogprobs('/weights/3', context[t]!)[token]),
      );
    }
  });

  it('cuts tokens behind a stop string, although the server went on', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    const [free] = await sampler.sample({ ...request, count: 1, maxTokens: 8 });
    const letter = tokenizer.decode([free!.tokens[1]!]);
    const [cut] = await sampler.sample({ ...request, count: 1, maxTokens: 8, stopStrings: [letter] });
    expect(cut!.stopReason).toBe('stop');
    const length = free!.tokens.findIndex((token) => tokenizer.decode([token]) === letter) + 1;
    expect(cut!.tokens).toEqual(free!.tokens.slice(0, length));
    expect(cut!.behaviorLogprobs).toEqual(free!.behaviorLogprobs.slice(0, length));
    const [whole] = await sampler.sample({ ...request, count: 1, maxTokens: 8, stopStrings: ['never'] });
    expect(whole).toEqual(free);
    expect(cut!.text).not.toContain(letter);
  });

  it('gives each version its own directory, and reads the version back', async () => {
    const sampler = await create(new StubVllm());
    await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/latest' });
    await expect(
      sampler.updateWeights({ kind: 'checkpoint', version: 2, path: '/weights/latest' }),
    ).rejects.toThrow(/write each version to its own directory/);
    expect(sampler.policyVersion).toBe(1);
  });

  it('starts the scheduler again and restores the old weights when a checkpoint fails', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' });
    const missing = { kind: 'checkpoint', version: 2, path: '/weights/missing' } as const;
    await expect(sampler.updateWeights(missing)).rejects.toThrow('No such directory');
    const paths = server.asked.slice(-5).map(({ path }) => path);
    expect(paths).toEqual([
      '/pause',
      '/collective_rpc',
      '/collective_rpc',
      '/update_weight_version',
      '/resume',
    ]);
    const [completion] = await sampler.sample({ ...request, count: 1 });
    const [token] = completion!.tokens;
    expect(completion!.behaviorLogprobs[0]).toBe(stubLogprobs('/weights/1', 6)[token!]);
  });

  it.each(['adapter', 'checkpoint'] as const)(
    'gives a server that was restarted its weights back as %s, and samples from no others',
    async (kind) => {
      const server = new StubVllm();
      const sampler = await create(server);
      await sampler.updateWeights({ kind, version: 1, path: '/weights/1' });
      server.restart();
      const completions = await sampler.sample(request);
      for (const { tokens, behaviorLogprobs, policyVersion } of completions) {
        expect(policyVersion).toBe(1);
        expect(behaviorLogprobs[0]).toBe(stubLogprobs('/weights/1', 6)[tokens[0]!]);
      }
    },
  );

  it('waits for a server that is away for a moment', async () => {
    const server = new StubVllm();
    const sampler = await create(server, { attempts: 50 });
    server.isUp = false;
    const sampling = sampler.sample(request);
    setTimeout(() => {
      server.isUp = true;
    }, 5);
    expect(await sampling).toHaveLength(2);
  });

  it('refuses temperatures and filters whose logprobs a trainer cannot compute', async () => {
    const raw = await create(new StubVllm());
    await expect(raw.sample({ ...request, temperature: 0.7 })).rejects.toThrow(
      /--logprobs-mode processed_logprobs/,
    );
    await expect(raw.scoreTokens([scored[0]], { temperature: 0.7 })).rejects.toThrow(ArgumentError);
    const exact = await create(new StubVllm({ wholeLogprobs: true }));
    const [scores] = await exact.scoreTokens([scored[0]], { temperature: 2 });
    const row = stubLogprobs('base', 5).map((logprob) => logprob / 2);
    const expected = row[6]! - Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0));
    expect(scores!.logprobs[0]).toBeCloseTo(expected, 5);
  });

  it('names every wrong option, and what a server lacks', async () => {
    await expect(createVllmSampler({ ...at, url: 'nowhere', tokenizer: {} as never })).rejects.toThrow(
      OptionsError,
    );
    await expect(create(new StubVllm(), { model: 'other' })).rejects.toThrow('expected the model "other"');
    await expect(create(new StubVllm(), { entropies: 'exact' })).rejects.toThrow('--max-logprobs -1');
    const server = new StubVllm();
    server.fault = (path) =>
      path === '/weight_info' ? { status: 404, body: { detail: 'Not Found' } } : undefined;
    const sampler = await create(server);
    expect(sampler.accepts).toEqual(['adapter']);
    expect(sampler.refusals?.checkpoint).toBe('start it with VLLM_SERVER_DEV_MODE=1');
    await expect(
      sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' }),
    ).rejects.toThrow(/VLLM_SERVER_DEV_MODE=1/);
  });
});

/** A fault in the answers that hold completions. */
const sampled =
  (change: (choice: Record<string, unknown>) => unknown, most = 2): Fault =>
  (path, _, { body }) => {
    if (path !== '/inference/v1/generate') return undefined;
    const choices = (body as { choices: Record<string, unknown>[] }).choices.slice(0, most).map(change);
    return { body: { choices } };
  };

describe('vLLM with bad answers', () => {
  it.each<[string, Fault, RegExp]>([
    ['an error with status 200', () => ({ body: { error: { message: 'overloaded' } } }), /expected choices/],
    ['a truncated body', () => ({ body: '{"choices":[{"ind' }), /expected JSON/],
    [
      'an error of a proxy',
      () => ({ status: 502, body: '<html>bad gateway</html>' }),
      /502.*see the log of the server/,
    ],
    [
      'a wrong key',
      () => ({ status: 401, body: { error: { message: 'no key hush-hush-7' } } }),
      /401.*check `token`/,
    ],
    ['an index twice', sampled((choice) => ({ ...choice, index: 0 })), /indexes 0 to 1, got 0, 0/],
    ['fewer completions', sampled((choice) => ({ ...choice, index: 0 }), 1), /expected 2 completions, got 1/],
    [
      'tokens of another model',
      sampled((choice) => ({ ...choice, token_ids: [99, 99, 99, 99] })),
      /token 99/,
    ],
    ['no logprobs', sampled((choice) => ({ ...choice, logprobs: null })), /one per token/],
    [
      'positive logprobs',
      sampled((choice) => ({
        ...choice,
        logprobs: { content: [1, 1, 1, 1].map((logprob) => ({ token_id: 1, logprob })) },
      })),
      /natural logarithms|one per token/,
    ],
    ['an aborted request', sampled((choice) => ({ ...choice, finish_reason: 'abort' })), /"abort"/],
    [
      'too few tokens for its length',
      sampled((choice) => ({
        ...choice,
        finish_reason: 'length',
        token_ids: [5],
        logprobs: { content: [{ token_id: 5, logprob: -1 }] },
      })),
      /ended by its length/,
    ],
  ])('rejects %s with a sentence, after a few attempts', async (_, fault, message) => {
    const server = new StubVllm();
    const sampler = await create(server, { token: 'hush-hush-7' });
    const before = server.asked.length;
    server.fault = fault;
    const sampling = sampler.sample(request);
    await expect(sampling).rejects.toThrow(SamplerError);
    await expect(sampling).rejects.toThrow(message);
    await expect(sampling).rejects.not.toThrow(/hush-hush/);
    expect(server.asked.length - before).toBeLessThanOrEqual(6);
    server.fault = () => undefined;
    expect(await sampler.sample(request)).toHaveLength(2);
  });

  it('gives up on a server that is slow, and tells its requests', async () => {
    const server = new StubVllm();
    const sampler = await create(server, { timeoutMs: 20, attempts: 1 });
    server.fault = () => new Promise(() => undefined);
    await expect(sampler.sample(request)).rejects.toThrow(/no answer within 20 ms; raise `timeoutMs`/);
  });

  it.each([{ weight_version: 'default' }, {}])(
    'notices weights that were lost in silence: %o',
    async (body) => {
      const server = new StubVllm();
      const sampler = await create(server);
      server.fault = (path) => (path === '/weight_info' ? { body } : undefined);
      await expect(
        sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' }),
      ).rejects.toThrow(/took version 1 and does not have it/);
    },
  );

  it('is away', async () => {
    const server = new StubVllm();
    server.isUp = false;
    await expect(create(server, { attempts: 2 })).rejects.toThrow(/fetch failed; check that the server runs/);
  });
});

describe('InferenceModule.create by name', () => {
  it.each([
    ['hf', /expected the backend 'onnx', 'vllm' or 'sglang', got 'hf'/],
    ['openai', /chatAgentPolicy/],
    ['vllm', /needs `model`/],
    ['onnx', /needs `model`/],
  ])('refuses %s with what it needs', async (backend, message) => {
    await expect(InferenceModule.create({ backend: backend as 'onnx' })).rejects.toThrow(message);
  });

  it('refuses what is no backend', async () => {
    await expect(InferenceModule.create({ backend: 7 as never })).rejects.toThrow(ArgumentError);
  });
});
