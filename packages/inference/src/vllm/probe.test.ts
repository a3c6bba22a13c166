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
      /expected max_model_len of the model, got none; check that this is vLLM/,
    ],
    ['no completion', answering('/v1/completions', { error: {} }), /gives no tokens with their logprobs/],
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

describe('the address of a vLLM server', () => {
  it('may end with /v1', async () => {
    const server = new StubVllm();
    await create(server, { url: 'http://server.test:8000/v1/' });
    expect(server.asked[0]!.path).toBe('/v1/models');
  });
});

describe('answers that do not fit', () => {
  const request = { prompt: [0, 5], count: 1, maxTokens: 1, seed: 'a' };
  const whole = { ...choice, finish_reason: 'length', prompt_token_ids: [0, 5] };

  it.each<[string, unknown, string]>([
    ['a failure', { error: { message: 'engine dead' } }, '("engine dead"); see the log of the server'],
    ['another model', { model: 'other', choices: [whole] }, 'check that nothing between here and the server'],
    ['another prompt', { choices: [{ ...whole, prompt_token_ids: [1] }] }, 'changes requests'],
    ['no logprobs', { choices: [{ ...whole, logprobs: null }] }, 'started with natural logprobs'],
    ['too many completions', { choices: [whole, { ...whole, index: 1 }] }, 'does not keep to its protocol'],
  ])('come with what to do: %s', async (_, body, remedy) => {
    const server = new StubVllm();
    server.fault = (path) => (path.includes('generate') ? { status: 404, body: {} } : undefined);
    const sampler = await create(server);
    server.fault = answering('/v1/completions', body);
    await expect(sampler.sample(request)).rejects.toThrow(remedy);
  });
});

describe('errors of createVllmSampler', () => {
  it('name it, for options and for a server that fails', async () => {
    await expect(createVllmSampler({ url: 'nowhere', tokenizer })).rejects.toThrow(
      /^createVllmSampler: invalid options[\s\S]*url/,
    );
    const server = new StubVllm();
    server.fault = () => ({ status: 500, body: { error: { message: 'broken' } } });
    await expect(create(server)).rejects.toThrow(ArgumentError);
    await expect(create(server)).rejects.toThrow(/^createVllmSampler: .*500 \("broken"\)/);
  });

  it('are not taken for an answer while it is asked what it can do', async () => {
    for (const path of ['/weight_info', '/inference/v1/generate', '/v1/unload_lora_adapter']) {
      const server = new StubVllm();
      let asked = 0;
      server.fault = (given) => {
        if (given !== path) return undefined;
        asked++;
        return { status: 503, body: {} };
      };
      const creating = create(server);
      if (path === '/v1/unload_lora_adapter') expect((await creating).accepts).toEqual(['checkpoint']);
      else await expect(creating).rejects.toThrow('503');
      expect(asked).toBe(1);
    }
  });
});

describe('weights that a vLLM server refuses', () => {
  it('come with what it lacks, also if it says nothing', async () => {
    const server = new StubVllm();
    server.fault = (path) => (path === '/v1/unload_lora_adapter' ? { status: 404, body: '' } : undefined);
    const sampler = await create(server);
    expect(sampler.accepts).toEqual(['checkpoint']);
    await expect(sampler.updateWeights({ kind: 'adapter', version: 1, path: '/weights/1' })).rejects.toThrow(
      "updateWeights: vLLM does not take weights as 'adapter'; start it with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1",
    );
  });

  it.each([
    { status: 404, body: '' },
    { status: 404, body: { error: { message: 'No adapter found' } } },
  ])('are loaded once: %o', async (answer) => {
    const server = new StubVllm();
    const sampler = await create(server);
    const begun = server.asked.length;
    server.fault = (path) => (path === '/v1/load_lora_adapter' ? answer : undefined);
    const update = sampler.updateWeights({ kind: 'adapter', version: 1, path: '/weights/1' });
    await expect(update).rejects.toThrow(/^updateWeights: .*load_lora_adapter/);
    expect(server.asked.slice(begun).map(({ path }) => path)).toEqual(['/v1/load_lora_adapter']);
  });

  it('give way to those that it began with, if an adapter was in force', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'adapter', version: 1, path: '/weights/1' });
    const missing = { kind: 'checkpoint', version: 2, path: '/weights/missing' } as const;
    await expect(sampler.updateWeights(missing)).rejects.toThrow('No such directory');
    const loaded = server.asked.flatMap(({ path, body }) =>
      path === '/collective_rpc' ? [(body.kwargs as { weights_path: string }).weights_path] : [],
    );
    expect(loaded).toEqual(['/weights/missing', '/models/tiny']);
    expect(server.asked.find(({ path }) => path === '/update_weight_version')!.body).toEqual({
      new_version: 'default',
    });
    expect((await sampler.sample({ prompt: [0], count: 1, maxTokens: 1, seed: 's' }))[0]!.policyVersion).toBe(
      1,
    );
  });

  it('are lost if it does not list them', async () => {
    for (const [kind, path] of [
      ['adapter', '/v1/models'],
      ['checkpoint', '/weight_info'],
    ] as const) {
      const server = new StubVllm();
      const sampler = await create(server);
      server.fault = answering(path, { error: {} });
      await expect(sampler.updateWeights({ kind, version: 1, path: '/weights/1' })).rejects.toThrow(
        'updateWeights: http://server.test:8000 took version 1 and does not have it; see the log of the server',
      );
    }
  });

  it('have the version and the end of their path in their name', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'adapter', version: 1, path: '/weights/a b' });
    const long = `/${'x'.repeat(100)}/1`;
    await sampler.updateWeights({ kind: 'adapter', version: 2, path: long });
    const loads = server.asked.filter(({ path }) => path === '/v1/load_lora_adapter');
    expect(loads.map(({ body }) => body)).toEqual([
      { lora_name: 'rlp-1--weights-a-b', lora_path: '/weights/a b' },
      { lora_name: `rlp-2-${'x'.repeat(78)}-1`, lora_path: long },
    ]);
  });

  it('have nothing to unload if they were a checkpoint', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' });
    const begun = server.asked.length;
    await sampler.updateWeights({ kind: 'adapter', version: 2, path: '/weights/2' });
    expect(server.asked.slice(begun).map(({ path }) => path)).toEqual([
      '/v1/load_lora_adapter',
      '/v1/models',
    ]);
  });
});

it('requests to vLLM end with their signal, on the server too', async () => {
  const calls = {
    '/inference/v1/generate': 'sample',
    '/v1/completions': 'score',
    '/v1/load_lora_adapter': 'adapter',
    '/v1/models': 'adapter',
    '/pause': 'checkpoint',
    '/collective_rpc': 'checkpoint',
    '/update_weight_version': 'checkpoint',
    '/weight_info': 'checkpoint',
  } as const;
  for (const [path, call] of Object.entries(calls)) {
    const server = new StubVllm();
    const signals: AbortSignal[] = [];
    const fetch: typeof server.fetch = (url, init) => {
      if (new URL(url).pathname === path) signals.push(init.signal);
      return server.fetch(url, init);
    };
    const sampler = await create(server, { fetch });
    signals.length = 0;
    const stop = new AbortController();
    let held = 0;
    server.fault = (asked) => {
      if (asked !== path || held++ > 0) return undefined;
      stop.abort(new Error('enough'));
      return new Promise(() => undefined);
    };
    const { signal } = stop;
    const asked =
      call === 'sample'
        ? sampler.sample({ prompt: [0], count: 1, maxTokens: 1, seed: 's', signal })
        : call === 'score'
          ? sampler.scoreTokens([{ prompt: [0], completion: [5] }], { signal })
          : sampler.updateWeights({ kind: call, version: 1, path: '/weights/1' }, signal);
    await expect(asked).rejects.toThrow('enough');
    expect(signals[0]!.aborted, path).toBe(true);
  }
});

describe('answers of /inference/v1/generate', () => {
  const request = { prompt: [0, 5, 6], count: 1, maxTokens: 1, seed: 'test' };
  type Choice = Readonly<Record<string, unknown>>;
  const changed = async (change: (choice: Choice) => Choice) => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.updateWeights({ kind: 'checkpoint', version: 1, path: '/weights/1' });
    server.fault = (path, _, { body }) =>
      path === '/inference/v1/generate'
        ? { body: { choices: (body as { choices: Choice[] }).choices.map(change) } }
        : undefined;
    return sampler.sample(request);
  };

  it.each<[string, (choice: Choice) => Choice, RegExp]>([
    [
      'weights of another version',
      (given) => ({ ...given, weight_versions: [{ version: '1' }, { version: '7' }] }),
      /expected weights of version 1, got "7"/,
    ],
    [
      'a logprob that is no number',
      (given) => ({ ...given, logprobs: { content: [{ logprob: 'x' }] } }),
      /expected choices with token_ids, got another body/,
    ],
    [
      'no logprob',
      (given) => ({ ...given, logprobs: { content: [null] } }),
      /expected choices with token_ids/,
    ],
    ['tokens that are none', (given) => ({ ...given, token_ids: ['5'] }), /expected choices with token_ids/],
    [
      'no tokens',
      (given) => ({ ...given, token_ids: null }),
      /expected 1 to 1 tokens in a completion, got 0/,
    ],
    [
      'no reason',
      (given) => ({ ...given, finish_reason: null }),
      /ended with "stop" or "length", got "null"/,
    ],
  ])('are refused with %s', async (_, change, message) => {
    await expect(changed(change)).rejects.toThrow(message);
  });

  it('need not name the weights', async () => {
    expect(await changed((given) => ({ ...given, weight_versions: null }))).toHaveLength(1);
    expect(await changed((given) => ({ ...given, weight_versions: [] }))).toHaveLength(1);
  });

  it('are put into the order of the request', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    const three = { ...request, count: 3, maxTokens: 3 };
    const straight = await sampler.sample(three);
    server.fault = (path, _, { body }) =>
      path === '/inference/v1/generate'
        ? { body: { choices: (body as { choices: Choice[] }).choices.toReversed() } }
        : undefined;
    expect(await sampler.sample(three)).toEqual(straight);
  });

  it('are asked to return token ids where scores are wanted', async () => {
    const server = new StubVllm();
    const sampler = await create(server);
    await sampler.scoreTokens([{ prompt: [0, 5], completion: [6] }]);
    expect(server.asked.at(-1)!.body).toEqual({
      ...{ model: 'tiny', prompt: [0, 5, 6], max_tokens: 1, temperature: 1, cache_salt: 'weights 0' },
      ...{ prompt_logprobs: 0, return_token_ids: true },
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
