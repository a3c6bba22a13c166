import { ArgumentError } from '@rlp/core';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { type Fault, StubVllm } from '../testing/stub-vllm.ts';
import { createVllmSampler, type VllmSamplerOptions } from '../vllm.ts';

const tokenizer = characterTokenizer('abcdefghijklmn', { begin: '<s>', end: '</s>' });
const create = (server: StubVllm, options: Partial<VllmSamplerOptions> = {}) =>
  createVllmSampler({
    ...{ url: 'http://server.test:8000', tokenizer, fetch: server.fetch, attempts: 1 },
    ...options,
  });

/** Answers one path, for the bodies that a test names. */
const answering =
  (
    path: string,
    body: unknown,
    isMeant: (asked: Readonly<Record<string, unknown>>) => boolean = () => true,
  ): Fault =>
  (asked, sent) =>
    asked === path && isMeant(sent) ? { body } : undefined;
const choice = { index: 0, token_ids: [5], logprobs: { token_logprobs: [-1] } };
const models = (model: object) => answering('/v1/models', { data: [{ id: 'tiny', ...model }] });

describe('a server that is no vLLM, or lacks something', () => {
  it.each<[string, Fault, RegExp]>([
    ['another list', answering('/v1/models', { models: [] }), /expected a list of models/],
    ['no models', answering('/v1/models', { data: [] }), /expected the model "any" at .*, got none/],
    [
      'a model without context',
      models({ max_model_len: null }),
      /expected max_model_len of the model; is this vLLM/,
    ],
    [
      'no logprobs',
      answering('/v1/completions', { choices: [{ ...choice, logprobs: null }] }),
      /gives no tokens with their logprobs; vLLM does from 0.10.2 on/,
    ],
    [
      'logprobs of another base',
      answering('/v1/completions', {
        choices: [{ ...choice, logprobs: { token_logprobs: [-0.1], top_logprobs: [{ 5: -0.1, 6: -0.2 }] } }],
      }),
      /not natural logarithms of probabilities/,
    ],
    [
      'no logprobs of prompts',
      answering('/v1/completions', { choices: [choice] }, (sent) => sent.prompt_logprobs === 0),
      /expected prompt_logprobs, got another body/,
    ],
  ])('is refused at the start with %s', async (_, fault, message) => {
    const server = new StubVllm();
    server.fault = fault;
    await expect(create(server)).rejects.toThrow(ArgumentError);
    await expect(create(server)).rejects.toThrow(message);
  });

  it('is refused with the names of its models if it serves others', async () => {
    const server = new StubVllm();
    server.fault = answering('/v1/models', { data: [{ id: 'a' }, { id: 'b' }, { id: 'c', parent: 'a' }] });
    await expect(create(server, { model: 'tiny' })).rejects.toThrow(
      /expected the model "tiny" at .*, got a, b$/,
    );
  });

  it('is refused if it ends while it is asked for adapters', async () => {
    const server = new StubVllm();
    server.fault = (path) =>
      path === '/v1/unload_lora_adapter' ? Promise.reject(new TypeError('fetch failed')) : undefined;
    await expect(create(server)).rejects.toThrow('fetch failed');
  });
});

describe('a vLLM server', () => {
  it('samples from the model that is asked for, wherever it is in the list', async () => {
    const server = new StubVllm();
    const others = [
      { id: 'other', max_model_len: 8 },
      { id: 'tiny', max_model_len: 16 },
    ];
    server.fault = answering('/v1/models', { data: others });
    expect((await create(server, { model: 'tiny' })).contextLength).toBe(16);
  });

  it('takes adapters if it unloads one that it does not have', async () => {
    const server = new StubVllm();
    server.fault = answering('/v1/unload_lora_adapter', 'Success');
    expect((await create(server)).accepts).toEqual(['adapter', 'checkpoint']);
  });

  it('is asked about a letter if the tokenizer has no bos token', async () => {
    const server = new StubVllm();
    const plain = characterTokenizer('abcdefghijklmno', { end: '</s>' });
    await create(server, { tokenizer: plain });
    const asked = server.asked.find(({ path }) => path === '/v1/completions');
    expect(asked!.body.prompt).toEqual(plain.encode('a'));
    expect(plain.encode('a')).not.toEqual([0]);
  });

  it.each([
    ['where it read them', {}, '/models/tiny'],
    ['by the name of the model', { root: null }, 'tiny'],
  ])('gets the weights that it started with back %s, if a checkpoint fails', async (_, model, path) => {
    const server = new StubVllm();
    server.fault = (asked, _body, answer) => {
      if (asked !== '/v1/models') return undefined;
      const { data } = answer.body as { data: object[] };
      return { body: { data: [{ ...data[0], ...model }] } };
    };
    const sampler = await create(server);
    const missing = { kind: 'checkpoint', version: 1, path: '/weights/missing' } as const;
    await expect(sampler.updateWeights(missing)).rejects.toThrow('No such directory');
    const loads = server.asked.filter(({ path }) => path === '/collective_rpc');
    expect(loads.map(({ body }) => (body.kwargs as { weights_path: string }).weights_path)).toEqual([
      '/weights/missing',
      path,
    ]);
    expect(server.asked.find(({ path: asked }) => asked === '/update_weight_version')!.body).toEqual({
      new_version: 'default',
    });
  });
});

describe('answers of /v1/completions', () => {
  type Choice = Readonly<Record<string, unknown>>;
  const changed =
    (change: (choice: Choice) => Choice, rest: object = {}): Fault =>
    (path, _, { body }) =>
      path === '/v1/completions'
        ? { body: { choices: (body as { choices: Choice[] }).choices.map(change), ...rest } }
        : undefined;
  const request = { prompt: [0, 5, 6], count: 2, maxTokens: 4, seed: 'test' };

  it.each<[string, Fault, RegExp]>([
    ['an error with status 200', () => ({ body: { error: {} } }), /expected choices with token_ids/],
    ['another model', changed((given) => given, { model: 'other' }), /expected model "tiny", got "other"/],
    [
      'another prompt',
      changed((given) => ({ ...given, prompt_token_ids: [0, 5, 7] })),
      /sampled from other prompt tokens than were sent/,
    ],
    [
      'no logprobs',
      changed((given) => ({ ...given, logprobs: null })),
      /expected \d logprobs, one per token, got 0/,
    ],
    ['no tokens', changed((given) => ({ ...given, token_ids: [] })), /expected 1 to 4 tokens .* got 0/],
    [
      'a logprob of null',
      changed((given) => ({ ...given, logprobs: { token_logprobs: [null, null, null, null] } })),
      /natural logarithms of probabilities, got NaN|one per token/,
    ],
  ])('are refused with %s', async (_, fault, message) => {
    const server = new StubVllm({ generate: false });
    const sampler = await create(server);
    server.fault = fault;
    await expect(sampler.sample(request)).rejects.toThrow(message);
  });

  it('need not repeat the prompt or name the model', async () => {
    const server = new StubVllm({ generate: false });
    const sampler = await create(server);
    server.fault = changed((given) => ({ ...given, prompt_token_ids: null }));
    expect(await sampler.sample(request)).toHaveLength(2);
  });
});
