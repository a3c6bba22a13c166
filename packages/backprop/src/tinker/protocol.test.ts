import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArgumentError, type Loss, TimeoutError, TrainingError } from '@rlp/core';
import { describe, expect, it, vi } from 'vitest';
import { StubTinker, stubVocabulary } from '../testing/stub-tinker.ts';
import { createTinkerBackend, type TinkerBackendOptions } from '../tinker.ts';
import { plainLoss } from './gradients.ts';

const create = (server: StubTinker, options: Partial<TinkerBackendOptions> = {}) =>
  createTinkerBackend({
    ...{ url: 'http://server.test', vocabularySize: stubVocabulary, fetch: server.fetch, reduction: 'sum' },
    ...{ learningRate: 0.01, contextLength: 16, backoff: { firstMs: 1, longestMs: 2 } },
    ...options,
  });
const directory = async () => join(await mkdtemp(join(tmpdir(), 'rlp-tinker-')), 'inner');

const row = {
  ...{ tokens: [0, 3, 2], mask: [0, 1, 1], weights: [0, 1, 1] },
  columns: { advantages: [0, 1, -1], behaviorLogprobs: [0, -1.5, -1.6] },
};
const batch = { sequences: [row] };
const nll: Loss = {
  key: 'nll',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
const weighted: Loss = {
  key: 'weighted',
  columns: ['advantages', 'behaviorLogprobs'],
  compute: (ops, { logprobs, columns }) => {
    const ratio = ops.exp(ops.sub(logprobs, columns.behaviorLogprobs!));
    return { tokenLosses: ops.neg(ops.mul(ratio, columns.advantages!)) };
  },
};
const scaled = (key: string, factor: number): Loss => ({
  key,
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.mul(ops.square(logprobs), ops.constant(factor)) }),
});
const asked = (server: StubTinker, path: string) =>
  server.asked.filter((one) => one.path === path).map(({ body }) => body);

describe('requests of a Tinker backend', () => {
  it('create a session and a model, and update it, in the words of the protocol', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server, { rank: 4, seed: 7, apiKey: 'tml-key', maxGradientNorm: 0.5 });
    expect(backend.baseModel).toBe('tiny');
    expect(backend.reduction).toBe('sum');
    expect([backend.vocabularySize, backend.publishedPath]).toEqual([stubVocabulary, undefined]);
    expect(asked(server, '/create_session')).toEqual([
      { tags: ['rlp'], sdk_version: '0.6.0', type: 'create_session' },
    ]);
    expect(asked(server, '/create_model')).toEqual([
      {
        ...{ session_id: 'session_1', base_model: 'tiny', type: 'create_model' },
        lora_config: { rank: 4, seed: 7, train_unembed: true, train_mlp: true, train_attn: true },
      },
    ]);
    await backend.forwardBackward(batch, nll);
    await backend.optimStep();
    expect(asked(server, '/forward_backward')[0]).toMatchObject({ model_id: 'model_0', seq_id: 1 });
    expect(asked(server, '/optim_step')).toEqual([
      {
        ...{ model_id: 'model_0', seq_id: 2, type: 'optim_step' },
        adam_params: {
          ...{ beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0 },
          ...{ grad_clip_norm: 0.5, learning_rate: 0.01 },
        },
      },
    ]);
    const plain = new StubTinker('sum');
    const other = await create(plain);
    await other.forwardBackward(batch, nll);
    await other.optimStep();
    expect(asked(plain, '/optim_step')[0]!.adam_params).not.toHaveProperty('grad_clip_norm');
  });

  it('name what is saved, and unload the model at the end, once', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    const publication = await backend.publish({ as: 'shared' });
    expect(publication).toMatchObject({
      kind: 'shared',
      version: 1,
      store: 'tinker',
      engine: backend.session,
    });
    await backend.saveCheckpoint(await directory());
    await backend.publish({ as: 'shared' });
    expect(asked(server, '/save_weights_for_sampler')).toMatchObject([
      { path: 'rlp-1-0', type: 'save_weights_for_sampler' },
      { path: 'rlp-2-2', type: 'save_weights_for_sampler' },
    ]);
    expect(asked(server, '/save_weights')).toMatchObject([{ path: 'rlp-state-0-1', type: 'save_weights' }]);
    await backend.close();
    await backend.close();
    expect(asked(server, '/unload_model')).toEqual([{ model_id: 'model_0', type: 'unload_model' }]);
    expect(asked(server, '/optim_step')).toEqual([]);
  });

  it('leave no gradient behind, which the next model would get', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    await backend.forwardBackward(batch, nll);
    await backend.close();
    expect(asked(server, '/optim_step')).toMatchObject([
      { type: 'optim_step', adam_params: { learning_rate: 0, beta1: 0.9 } },
    ]);
    const calls = {
      forwardBackward: () => backend.forwardBackward(batch, nll),
      optimStep: () => backend.optimStep(),
      logprobs: () => backend.logprobs([[0, 1]]),
      publish: () => backend.publish({ as: 'shared' }),
      saveCheckpoint: () => backend.saveCheckpoint('nowhere'),
      loadCheckpoint: () => backend.loadCheckpoint('nowhere'),
    };
    for (const [name, call] of Object.entries(calls)) {
      await expect(Promise.resolve(call())).rejects.toThrow(
        `${name}: the Tinker backend was closed; create another one`,
      );
    }
  });

  it('make no other model where losses of the server are off', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server, { nativeLosses: 'off' });
    await backend.forwardBackward(batch, weighted);
    expect(asked(server, '/create_model')).toHaveLength(1);
    expect(asked(server, '/forward_backward')).toMatchObject([
      { forward_backward_input: { loss_fn: 'cross_entropy' } },
    ]);
    expect([plainLoss('sum').name, plainLoss('means').name]).toEqual([
      'cross_entropy',
      'importance_sampling',
    ]);
  });

  it('send no update without a gradient', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    expect(await backend.optimStep()).toEqual({ gradientNorm: 0, learningRate: 0.01, updates: 1 });
    expect(asked(server, '/optim_step')).toEqual([]);
  });

  it('carry the key, and keep one idempotency key each', async () => {
    const server = new StubTinker('sum');
    const keys: (string | undefined)[] = [];
    const fetch: typeof server.fetch = (url, init) => {
      keys.push(init.headers['x-api-key']);
      return server.fetch(url, init);
    };
    const backend = await create(server, { apiKey: 'tml-key', fetch, url: 'http://server.test/api/v1/' });
    await backend.logprobs([[0, 3]]);
    await backend.logprobs([[0, 3]]);
    expect(new Set(keys)).toEqual(new Set(['tml-key']));
    const sent = server.asked.flatMap(({ path, key }) => (path === '/forward' ? [key] : []));
    expect(new Set(sent).size).toBe(2);
    expect(sent[0]).toMatch(/^session_1-rlp-\d+-\d+$/);
    const another = new StubTinker('sum');
    await (await create(another)).logprobs([[0, 3]]);
    expect(another.asked.find(({ path }) => path === '/forward')!.key).not.toBe(sent[0]);
  });
});

describe('the model of a Tinker backend', () => {
  const serving = (supported_models: unknown) => {
    const server = new StubTinker('sum');
    server.fault = (path) =>
      path === '/get_server_capabilities' ? { body: { supported_models } } : undefined;
    return server;
  };

  it('is the only one of the server, or the one that was asked for', async () => {
    const two = [{ model_name: 'a' }, { model_name: null }, { model_name: 'b' }];
    const server = serving(two);
    expect((await create(server, { model: 'b' })).baseModel).toBe('b');
    expect(asked(server, '/create_model')[0]).toMatchObject({ base_model: 'b' });
    await expect(create(serving(two))).rejects.toThrow(
      'createTinkerBackend: expected the model "any" at http://server.test/api/v1, got a, b; set `model` to one of them',
    );
    await expect(create(serving([]))).rejects.toThrow(
      'expected the model "any" at http://server.test/api/v1, got none;',
    );
    await expect(create(serving(undefined))).rejects.toThrow('got none; set');
    await expect(create(serving(two), { model: 'c' })).rejects.toThrow('expected the model "c"');
  });

  it('is trained by a server, which is explained if there is none', async () => {
    const server = new StubTinker('sum');
    server.fault = () => ({ status: 404, body: { detail: 'Not Found' } });
    const creating = create(server);
    await expect(creating).rejects.toThrow(ArgumentError);
    await expect(creating).rejects.toThrow(
      /^createTinkerBackend: .*404 \("Not Found"\); check that a Tinker server runs at `url`$/,
    );
    await expect(create(server, { clock: 3 as never, apiKey: 'ö' })).rejects.toThrow(
      /^createTinkerBackend: invalid options[\s\S]*apiKey: must be visible ASCII characters[\s\S]*clock: must be a function/,
    );
  });

  it('is left with its session if it cannot be created', async () => {
    vi.useFakeTimers();
    const server = serving([]);
    await expect(create(server, { heartbeatMs: 10 })).rejects.toThrow('got none');
    const begun = server.asked.length;
    await vi.advanceTimersByTimeAsync(100);
    expect(server.asked).toHaveLength(begun);
    vi.useRealTimers();
  });

  it('shows signs of life until it is closed, missed ones included', async () => {
    vi.useFakeTimers();
    const server = new StubTinker('sum');
    const backend = await create(server, { heartbeatMs: 10 });
    const beats = () => asked(server, '/session_heartbeat');
    server.fault = (path) => (path === '/session_heartbeat' ? { status: 500, body: {} } : undefined);
    await vi.advanceTimersByTimeAsync(35);
    expect(beats()).toEqual(
      Array.from({ length: 3 }, () => ({ session_id: 'session_1', type: 'session_heartbeat' })),
    );
    vi.useRealTimers();
    await backend.close();
    await new Promise((resolve) => setTimeout(resolve, 25));
    expect(beats()).toHaveLength(3);
  });
});

describe('results of a Tinker server', () => {
  it('are waited for until the deadline', async () => {
    const server = new StubTinker('sum');
    let now = 0;
    const backend = await create(server, { deadlineMs: 50, clock: () => now });
    server.fault = (path) => {
      if (path !== '/retrieve_future') return undefined;
      now += 20;
      return { body: { type: 'try_again' } };
    };
    const begun = asked(server, '/retrieve_future').length;
    const scoring = backend.logprobs([[0, 3]]);
    await expect(scoring).rejects.toThrow(TimeoutError);
    await expect(scoring).rejects.toThrow(
      'http://server.test/api/v1: no result within 50 ms; raise `deadlineMs`',
    );
    expect(asked(server, '/retrieve_future').length - begun).toBe(3);
    expect(asked(server, '/retrieve_future').at(-1)).toMatchObject({ allow_metadata_only: false });
  });

  it.each([
    ['is away', { status: 503, body: 'busy' }, 3, 1, /503/],
    ['forgets them', { status: 410, body: { detail: 'gone' } }, 4, 4, /410 \("gone"\)/],
    ['says nothing with its refusal', { status: 400, body: '' }, 1, 1, /400/],
    [
      'does not know them',
      { status: 404, body: { detail: 'Future not found' } },
      1,
      1,
      /404 .*load the last checkpoint/,
    ],
  ])('are asked for as often as the options say if it %s', async (_, answer, polls, sends, message) => {
    const server = new StubTinker('sum');
    const backend = await create(server, { attempts: 3 });
    server.fault = (path) => (path === '/retrieve_future' ? answer : undefined);
    const [polled, sent] = [asked(server, '/retrieve_future').length, asked(server, '/forward').length];
    const scoring = backend.logprobs([[0, 3]]);
    await expect(scoring).rejects.toThrow(TrainingError);
    await expect(scoring).rejects.toThrow(message);
    await expect(scoring).rejects.toThrow(/^logprobs: /);
    expect(asked(server, '/retrieve_future').length - polled).toBe(polls);
    expect(asked(server, '/forward').length - sent).toBe(sends);
  });

  it('are waited for again after a request for them took too long', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server, { timeoutMs: 20, attempts: 1 });
    let stuck = 2;
    server.fault = (path) =>
      path === '/retrieve_future' && stuck-- > 0 ? new Promise(() => undefined) : undefined;
    expect(await backend.logprobs([[0, 3]])).toHaveLength(1);
  });

  it.each([
    [{ body: { loss_fn_outputs: [{ logprobs: 7 }] } }, 'loss_fn_outputs.0.logprobs'],
    [{ body: '[]' }, 'the body'],
  ])('name the part of %j that is wrong', async (answer, part) => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    server.fault = (path) => (path === '/retrieve_future' ? answer : undefined);
    const scoring = backend.logprobs([[0, 3]]);
    await expect(scoring).rejects.toThrow(
      `logprobs: http://server.test/api/v1: expected an answer of Tinker's protocol, got one in which ${part} is wrong`,
    );
    const failed = (await scoring.then(undefined, (error: unknown) => error)) as Error;
    expect(failed.cause).toMatchObject({ failure: 'malformed' });
  });
});

describe('a gradient that was dropped', () => {
  it.each([
    ['weights', nll],
    ['ratios', weighted],
  ])('leaves nothing of what was accumulated by %s', async (_, first) => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    const norm = async () => {
      await backend.forwardBackward(batch, nll);
      return (await backend.optimStep()).gradientNorm;
    };
    await backend.forwardBackward(batch, first);
    await expect(
      Promise.resolve(backend.forwardBackward(batch, scaled('not finite', Number.NaN))),
    ).rejects.toThrow(
      'forwardBackward: the loss "not finite" or it (NaN) is not finite; the accumulated gradient was dropped',
    );
    const other = await create(new StubTinker('sum'));
    await other.forwardBackward(batch, nll);
    expect(await norm()).toBeCloseTo((await other.optimStep()).gradientNorm, 6);
  });

  it('is named by its loss or by the gradient, and other losses are refused before', async () => {
    const backend = await create(new StubTinker('sum'));
    const sharp: Loss = {
      key: 'sharp',
      columns: [],
      compute: (ops, { logprobs }) => ({
        tokenLosses: ops.mul(ops.sqrt(ops.sub(logprobs, logprobs)), ops.constant(1)),
      }),
    };
    await expect(Promise.resolve(backend.forwardBackward(batch, sharp))).rejects.toThrow(
      'forwardBackward: the loss "sharp" or its gradient is not finite',
    );
    const critic = backend.forwardBackward(batch, { ...nll, key: 'critic', values: 'needed' });
    await expect(Promise.resolve(critic)).rejects.toThrow(
      'forwardBackward: the loss "critic" reads entropies or values, which Tinker\'s protocol does not give',
    );
    expect(
      (await backend.forwardBackward(batch, { ...nll, key: 'plain', values: 'none' })).loss,
    ).toBeGreaterThan(0);
    const warm = { sequences: [{ ...row, temperature: 2 }] };
    await expect(Promise.resolve(backend.forwardBackward(warm, nll))).rejects.toThrow(
      "forwardBackward: Tinker's protocol computes logprobs at temperature 1, got 2; sample and train at 1",
    );
    await expect(Promise.resolve(backend.logprobs([[0, 1]], { temperature: 2 }))).rejects.toThrow(
      /^logprobs: Tinker's protocol/,
    );
  });
});

describe('checkpoints on a Tinker server', () => {
  it('belong to a base model and a rank', async () => {
    const path = await directory();
    const backend = await create(new StubTinker('sum'), { rank: 4 });
    await backend.saveCheckpoint(path);
    const other = await create(new StubTinker('sum'), { rank: 8 });
    await expect(Promise.resolve(other.loadCheckpoint(path))).rejects.toThrow(
      `loadCheckpoint: ${path} is of tiny with rank 4, this backend trains tiny with rank 8; create it with the same baseModel and rank`,
    );
  });

  it('are loaded into the model if that is its first request, else into another one', async () => {
    const server = new StubTinker('sum');
    const path = await directory();
    const backend = await create(server);
    await backend.forwardBackward(batch, nll);
    await backend.optimStep();
    await backend.publish({ as: 'shared' });
    await backend.saveCheckpoint(path);
    const scores = async (one: typeof backend) => (await one.logprobs([[0, 3, 2]]))[0]!.logprobs;
    const expected = await scores(backend);
    await backend.loadCheckpoint(path);
    const [models, loads] = [asked(server, '/create_model').length, asked(server, '/load_weights')];
    expect([models, loads]).toMatchObject([
      2,
      [
        {
          model_id: 'model_1',
          optimizer: true,
          type: 'load_weights',
          seq_id: 1,
          path: expect.stringMatching(/^tinker:/),
        },
      ],
    ]);
    expect(asked(server, '/unload_model')).toMatchObject([{ model_id: 'model_0' }]);
    expect(await scores(backend)).toEqual(expected);
    expect([backend.weightVersion, (await backend.optimStep()).updates]).toEqual([1, 2]);

    const fresh = await create(server);
    await fresh.loadCheckpoint(path);
    expect(asked(server, '/load_weights').at(-1)).toMatchObject({ model_id: 'model_2' });
    expect(asked(server, '/create_model')).toHaveLength(3);
    expect(asked(server, '/unload_model')).toHaveLength(1);
    expect(await scores(fresh)).toEqual(expected);
    const orders = server.asked.flatMap(({ body }) =>
      body.model_id === 'model_2' && body.seq_id ? [body.seq_id] : [],
    );
    expect(orders).toEqual([1, 2]);
  });

  it('leave the model in force if they cannot be loaded, and unload the other one', async () => {
    const server = new StubTinker('sum');
    const path = await directory();
    const backend = await create(server);
    await backend.saveCheckpoint(path);
    server.fault = (asks) =>
      asks === '/load_weights' ? { status: 404, body: { detail: 'Checkpoint not found' } } : undefined;
    await expect(Promise.resolve(backend.loadCheckpoint(path))).rejects.toThrow(
      /^loadCheckpoint: .*not found/,
    );
    expect(asked(server, '/unload_model')).toMatchObject([{ model_id: 'model_1' }]);
    expect(await backend.logprobs([[0, 3]])).toHaveLength(1);
    const fresh = await create(server);
    await expect(Promise.resolve(fresh.loadCheckpoint(path))).rejects.toThrow('not found');
    expect(asked(server, '/unload_model')).toHaveLength(1);
  });
});
