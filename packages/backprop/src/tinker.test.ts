import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ArgumentError,
  type Loss,
  OptionsError,
  SamplerError,
  TrainingError,
  type TrainingSequence,
} from '@rlp/core';
import {
  describeCheckpointBackend,
  describeInferenceEngine,
  describeSampler,
  describeTrainingBackend,
} from '@rlp/core/testing';
import { characterTokenizer } from '@rlp/models';
import { describe, expect, it } from 'vitest';
import { StubTinker, stubVocabulary } from './testing/stub-tinker.ts';
import { createTinkerBackend, createTinkerSampler, type TinkerBackendOptions } from './tinker.ts';

const tokenizer = characterTokenizer('abcd', { begin: '<s>', end: '</s>' });
const create = (server: StubTinker, options: Partial<TinkerBackendOptions> = {}) =>
  createTinkerBackend({
    ...{ url: 'http://server.test', vocabularySize: stubVocabulary, fetch: server.fetch },
    ...{ learningRate: 0.01, contextLength: 16, backoff: { firstMs: 1, longestMs: 2 } },
    ...options,
  });
const directory = async () => join(await mkdtemp(join(tmpdir(), 'rlp-tinker-')), 'inner');

/** Lets the next call of a method fail, when it is sent or by its result. */
function failOnce(server: StubTinker, method: 'forwardBackward' | 'optimStep', by: 'refusal' | 'result') {
  server.refusal = (path) => {
    if (path !== (method === 'optimStep' ? '/optim_step' : '/forward_backward')) return undefined;
    server.refusal = () => undefined;
    return by === 'result' ? server.failed('out of memory') : { status: 500, body: 'out of memory' };
  };
}

for (const reduction of ['sum', 'means'] as const) {
  const name = `a Tinker server that reduces by ${reduction}`;
  const server = new StubTinker(reduction);
  const subject = { create: () => create(server), vocabularySize: stubVocabulary };
  for (const by of ['refusal', 'result'] as const) {
    describeTrainingBackend(`${name} and fails by its ${by}`, {
      ...{ ...subject, knows: 'logprobs of tokens' },
      createFaulty: async () => {
        const faulty = new StubTinker(reduction);
        const backend = await create(faulty, { attempts: 1 });
        return { backend, arm: (method) => failOnce(faulty, method, by) };
      },
    });
  }
  describeCheckpointBackend(name, { ...subject, checkpointDirectory: directory });
  const backend = await create(server);
  const sampler = createTinkerSampler({ backend, tokenizer, contextLength: 16 });
  describeSampler(name, {
    create: () => sampler,
    prompt: [0, 3],
    tooLongPrompt: Array.from({ length: 17 }, () => 3),
  });
  describeInferenceEngine(name, {
    create: () => sampler,
    publication: async (version) => {
      let publication = await backend.publish({ as: 'shared' });
      while (publication.version < version) publication = await backend.publish({ as: 'shared' });
      return publication;
    },
    impossible: (version) => ({ kind: 'checkpoint', version, path: 'missing' }),
    prompt: [0, 3],
  });
}

const row = (tokens: readonly number[], change: Partial<TrainingSequence> = {}): TrainingSequence => ({
  ...{ tokens, mask: tokens.map((_, t) => Math.min(t, 1)), weights: tokens.map((_, t) => 0.3 + t) },
  columns: {
    advantages: tokens.map((_, t) => 1 - t),
    behaviorLogprobs: tokens.map((_, t) => -1.5 - 0.1 * t),
  },
  ...change,
});
const sequences = [row([0, 3, 2, 5, 1]), row([1, 4]), row([2])];
const nll: Loss = {
  key: 'nll',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
/** A loss that mixes the tokens of a row, with gradients of either sign. */
const clipped: Loss = {
  key: 'clipped',
  columns: ['advantages', 'behaviorLogprobs'],
  compute(ops, { logprobs, columns }) {
    const ratio = ops.exp(ops.sub(logprobs, columns.behaviorLogprobs!));
    const surrogate = ops.minimum(
      ops.mul(ratio, columns.advantages!),
      ops.mul(ops.clip(ratio, 0.8, 1.2), columns.advantages!),
    );
    return { tokenLosses: ops.sub(ops.mul(ops.constant(0.1), ops.rowSum(logprobs)), surrogate) };
  },
};

/** Losses as servers have them. The stub knows importance sampling only, and takes every other name for it. */
const [weighted, bounded] = ([Number.POSITIVE_INFINITY, 1.2] as const).map(
  (high): Loss => ({
    key: `bounded ${high}`,
    columns: ['advantages', 'behaviorLogprobs'],
    compute(ops, { logprobs, columns }) {
      const ratio = ops.exp(ops.sub(logprobs, columns.behaviorLogprobs!));
      const surrogate = (one: typeof ratio) => ops.mul(one, columns.advantages!);
      if (high === Number.POSITIVE_INFINITY) return { tokenLosses: ops.neg(surrogate(ratio)) };
      const least = ops.minimum(surrogate(ratio), surrogate(ops.clip(ratio, 0.8, high)));
      return { tokenLosses: ops.neg(least) };
    },
  }),
) as [Loss, Loss];

describe('createTinkerBackend', () => {
  it.each([nll, clipped, weighted, bounded])(
    'makes the updates of a sum from a server of means: %o',
    async (loss) => {
      const scores = await Promise.all(
        (['sum', 'means'] as const).map(async (reduction) => {
          const backend = await create(new StubTinker(reduction));
          const norms: number[] = [];
          for (let update = 0; update < 3; update++) {
            backend.forwardBackward({ sequences }, loss);
            norms.push((await backend.optimStep()).gradientNorm);
          }
          const [scored] = await backend.logprobs([sequences[0]!.tokens]);
          return [...norms, ...scored!.logprobs];
        }),
      );
      for (const [i, value] of scores[0]!.entries()) expect(scores[1]![i]).toBeCloseTo(value, 5);
    },
  );

  it('trains cross-entropies in one pass, other losses in two, and sends updates without waiting', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    const paths = async (loss: Loss) => {
      server.asked.length = 0;
      const isAsked = (wanted: string) => server.asked.some(({ path }) => path === wanted);
      // No gradient is ready before the update was sent.
      server.fault = (path) =>
        path === '/retrieve_future' && isAsked('/forward_backward') && !isAsked('/optim_step')
          ? { body: { type: 'try_again' } }
          : undefined;
      backend.forwardBackward({ sequences }, loss);
      await backend.optimStep();
      return server.asked.map(({ path }) => path).filter((path) => path !== '/retrieve_future');
    };
    expect(await paths(nll)).toEqual(['/forward_backward', '/optim_step']);
    expect(await paths(clipped)).toEqual(['/forward', '/forward_backward', '/optim_step']);
    await paths(weighted);
    expect(await paths(weighted)).toEqual(['/forward_backward', '/optim_step']);
    const orders = server.asked.flatMap(({ body }) => (body.seq_id as number | undefined) ?? []);
    expect(orders).toEqual(orders.toSorted((a, b) => a - b));
  });

  it.each(['ignores the bounds of a loss', 'does not know it', 'makes no model more'])(
    'computes losses here where the server %s',
    async (wrong) => {
      const server = new StubTinker('sum');
      const backend = await create(server);
      const refused = { status: 400, body: { detail: 'loss_fn: expected cross_entropy' } };
      server.fault = (path, { forward_backward_input: input }) => {
        if (wrong === 'makes no model more') return path === '/create_model' ? refused : undefined;
        if (wrong === 'ignores the bounds of a loss') return undefined;
        return (input as { loss_fn?: string } | undefined)?.loss_fn === 'ppo' ? refused : undefined;
      };
      const here = await create(new StubTinker('sum'), { nativeLosses: 'off' });
      const norms = [backend, here].map(async (one) => {
        one.forwardBackward({ sequences }, bounded);
        return (await one.optimStep()).gradientNorm;
      });
      const [got, expected] = await Promise.all(norms);
      expect(got).toBe(expected);
      server.asked.length = 0;
      await backend.forwardBackward({ sequences }, bounded);
      const paths = server.asked.map(({ path }) => path).filter((path) => path !== '/retrieve_future');
      expect(paths).toEqual(['/forward', '/forward_backward']);
    },
  );

  it('cuts batches into requests', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server, { sequencesPerRequest: 2 });
    server.asked.length = 0;
    const many = Array.from({ length: 5 }, () => row([0, 3, 2]));
    const result = await backend.forwardBackward({ sequences: many }, nll);
    expect(result.logprobs.map(({ length }) => length)).toEqual([3, 3, 3, 3, 3]);
    expect(server.asked.filter(({ path }) => path === '/forward_backward')).toHaveLength(3);
  });

  it('names every wrong option, a wrong model and a wrong key, without the key', async () => {
    const server = new StubTinker('sum');
    await expect(create(server, { rank: 0, learningRate: -1 })).rejects.toThrow(OptionsError);
    await expect(create(server, { model: 'other' })).rejects.toThrow(/expected the model "other".*got tiny/);
    server.fault = () => ({ status: 401, body: { detail: 'bad key tml-hush' } });
    const refused = create(server, { apiKey: 'tml-hush' });
    await expect(refused).rejects.toThrow(ArgumentError);
    await expect(refused).rejects.toThrow(/401.*check `apiKey`/);
    await expect(refused).rejects.not.toThrow(/hush/);
  });

  it('refuses losses that need whole distributions', async () => {
    const backend = await create(new StubTinker('sum'));
    const entropic: Loss = { ...nll, key: 'entropic', entropies: 'needed' };
    await expect(backend.forwardBackward({ sequences }, entropic)).rejects.toThrow(/entropies or values/);
    await expect(backend.logprobs([[0, 1]], { policy: 'reference' })).rejects.toThrow(ArgumentError);
  });
});

describe('a Tinker server that misbehaves', () => {
  it('answers late, is away and forgets results: the call is asked for again, with its idempotency key', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    const answers = [
      { status: 408, body: { detail: 'not yet' } },
      { body: { type: 'try_again', request_id: '1', queue_state: 'active' } },
      { status: 503, body: 'busy' },
      { status: 410, body: { detail: 'gone' } },
    ];
    server.fault = (path) => (path === '/retrieve_future' ? answers.shift() : undefined);
    server.asked.length = 0;
    await backend.logprobs([[0, 3, 2]]);
    const sent = server.asked.filter(({ path }) => path === '/forward');
    expect(sent).toHaveLength(2);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
  });

  it.each([
    [{ body: { error: 'out of memory', category: 'server' } }, /out of memory/],
    [{ status: 400, body: { detail: 'shape mismatch' } }, /shape mismatch/],
    [{ body: { loss_fn_outputs: [] } }, /expected logprobs of 1 sequences, got 0/],
    [{ body: { loss_fn_outputs: [{ logprobs: { data: [-1] } }] } }, /expected 2 finite logprobs/],
    [{ body: '{"loss_fn' }, /expected JSON/],
  ])('rejects %j and goes on', async (answer, message) => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    server.fault = (path) => (path === '/retrieve_future' ? answer : undefined);
    const asked = backend.logprobs([[0, 3, 2]]);
    await expect(asked).rejects.toThrow(TrainingError);
    await expect(asked).rejects.toThrow(message);
    server.fault = () => undefined;
    expect(await backend.logprobs([[0, 3, 2]])).toHaveLength(1);
  });

  it('repeats the key with status 200: no error holds it', async () => {
    const apiKey = 'tml-secret-123456';
    const server = new StubTinker('sum');
    server.fault = (path, _, { body }) =>
      path === '/create_session'
        ? { body: { ...(body as object), error_message: `bad key ${apiKey}` } }
        : undefined;
    await expect(create(server, { apiKey })).rejects.toThrow('bad key [hidden]');
    server.fault = () => undefined;
    const backend = await create(server, { apiKey });
    server.fault = (path) =>
      path === '/retrieve_future' ? { body: { error: `bad key ${apiKey}`, category: 'user' } } : undefined;
    await expect(backend.logprobs([[0, 3]])).rejects.toThrow('bad key [hidden]');
  });

  it('was restarted: the model is gone, and the error says what to do', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    server.fault = (path) =>
      path === '/forward' ? { status: 404, body: { detail: 'Model not found' } } : undefined;
    await expect(backend.logprobs([[0, 3]])).rejects.toThrow(/Model not found.*load the last checkpoint/);
  });

  it('samples other tokens than asked: refused', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    const sampler = createTinkerSampler({ backend, tokenizer, contextLength: 16 });
    const request = { prompt: [0, 3], count: 1, maxTokens: 3, seed: 'a' };
    for (const sequence of [
      { stop_reason: 'length', tokens: [99, 1, 1], logprobs: [-1, -1, -1] },
      { stop_reason: 'length', tokens: [1, 1, 1, 1], logprobs: [-1, -1, -1, -1] },
      { stop_reason: 'length', tokens: [1, 1], logprobs: [-1] },
      { stop_reason: 'length', tokens: [1, 1], logprobs: [2, -1] },
    ]) {
      server.fault = (path) =>
        path === '/retrieve_future' ? { body: { sequences: [sequence] } } : undefined;
      await expect(sampler.sample(request)).rejects.toThrow(SamplerError);
    }
    server.fault = () => undefined;
    await expect(sampler.sample({ ...request, temperature: 0.5 })).rejects.toThrow(/temperature 1/);
  });
});
