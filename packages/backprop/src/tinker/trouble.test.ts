import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Loss } from '@rlp/core';
import type { Fetch } from '@rlp/http/client';
import { describe, expect, it } from 'vitest';
import { type Fault, StubTinker, stubVocabulary } from '../testing/stub-tinker.ts';
import { createTinkerBackend, type TinkerBackendOptions } from '../tinker.ts';

const create = (server: StubTinker, options: Partial<TinkerBackendOptions> = {}) =>
  createTinkerBackend({
    ...{ url: 'http://server.test', vocabularySize: stubVocabulary, fetch: server.fetch, reduction: 'sum' },
    ...{ learningRate: 1e-9, contextLength: 16, backoff: { firstMs: 1, longestMs: 2 }, attempts: 2 },
    ...options,
  });
const batch = {
  sequences: [{ tokens: [0, 3, 2], mask: [0, 1, 1], weights: [0, 1, 1], columns: {} }],
};
const nll: Loss = {
  key: 'nll',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};
/** Sent in two passes. */
const squared: Loss = {
  key: 'squared',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.square(logprobs) }),
};
const asked = (server: StubTinker, path: string) => server.asked.filter((one) => one.path === path);

/** Answers every wait for the result of a call with a fault. */
function losing(server: StubTinker, call: string, lost: () => ReturnType<Fault>): Fault {
  return (path, { request_id }) => {
    const made = asked(server, call).length > 0;
    return path === '/retrieve_future' && made && request_id !== undefined ? lost() : undefined;
  };
}

async function normOf(backend: Awaited<ReturnType<typeof create>>, loss: Loss) {
  await backend.forwardBackward(batch, loss);
  return backend.optimStep();
}

describe('the gradient of a Tinker backend', () => {
  it.each([nll, squared])('is dropped if the result of forwardBackward is lost: $key', async (loss) => {
    const clean = await normOf(await create(new StubTinker('sum')), loss);
    const server = new StubTinker('sum');
    const backend = await create(server);
    server.fault = losing(server, '/forward_backward', () => ({ status: 429, body: 'busy' }));
    await expect(backend.forwardBackward(batch, loss)).rejects.toThrow('429');
    server.fault = () => undefined;
    const { gradientNorm, updates } = await normOf(backend, loss);
    expect(gradientNorm).toBeCloseTo(clean.gradientNorm, 6);
    expect(updates).toBe(1);
  });

  it('is dropped if optimStep is refused, which counts no update', async () => {
    const schedule = { kind: 'linear', updates: 10 } as const;
    const clean = await normOf(await create(new StubTinker('sum'), { schedule }), nll);
    const server = new StubTinker('sum');
    const backend = await create(server, { schedule });
    await backend.forwardBackward(batch, nll);
    server.refusal = (path) => (path === '/optim_step' ? { status: 500, body: 'no' } : undefined);
    await expect(backend.optimStep()).rejects.toThrow('500');
    server.refusal = () => undefined;
    expect(await normOf(backend, nll)).toEqual({
      ...{ ...clean, gradientNorm: expect.closeTo(clean.gradientNorm, 6) },
    });
  });

  it('goes into an update whose result is lost, which counts', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    await backend.forwardBackward(batch, nll);
    server.fault = losing(server, '/optim_step', () => ({ status: 503, body: 'away' }));
    await expect(backend.optimStep()).rejects.toThrow('503');
    server.fault = () => undefined;
    expect(await normOf(backend, nll)).toMatchObject({ updates: 2 });
  });

  it('is dropped with what later calls added to it, which reject too', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    const isFirst = (id: unknown) => id === '2';
    server.fault = (path, { request_id: id }) =>
      path === '/retrieve_future' && isFirst(id) ? { body: { error: 'out of memory' } } : undefined;
    const [first, second] = [backend.forwardBackward(batch, nll), backend.forwardBackward(batch, nll)];
    await expect(first).rejects.toThrow('out of memory');
    await expect(second).rejects.toThrow(
      'forwardBackward: a call before this one failed, so the accumulated gradient was dropped; send this batch again',
    );
    expect(await backend.optimStep()).toMatchObject({ gradientNorm: 0, updates: 1 });
  });

  it('is reported as partial by an update that was sent before a call turned out to have failed', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    server.fault = (path, { request_id: id }) =>
      path === '/retrieve_future' && id === '3' ? { body: { error: 'out of memory' } } : undefined;
    const kept = backend.forwardBackward(batch, nll);
    const [failed, update] = [backend.forwardBackward(batch, nll), backend.optimStep()];
    await kept;
    await expect(failed).rejects.toThrow('out of memory');
    await expect(update).rejects.toThrow(
      'optimStep: a call before this update failed after the update was sent, so it was made with a part of the gradient; load the last checkpoint, or await forwardBackward before optimStep',
    );
    expect(await normOf(backend, nll)).toMatchObject({ updates: 2 });
  });

  it('stays in doubt until the server has taken another model', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    await backend.forwardBackward(batch, nll);
    server.refusal = (path) => (path === '/optim_step' ? { status: 400, body: 'no' } : undefined);
    await expect(backend.optimStep()).rejects.toThrow('400');
    server.refusal = (path) => (path === '/create_model' ? { status: 429, body: 'full' } : undefined);
    await expect(backend.forwardBackward(batch, nll)).rejects.toThrow('429');
    server.refusal = () => undefined;
    const clean = await normOf(await create(new StubTinker('sum')), nll);
    expect((await normOf(backend, nll)).gradientNorm).toBeCloseTo(clean.gradientNorm, 6);
    expect(asked(server, '/unload_model')).toHaveLength(1);
  });
});

describe('a wait for a result', () => {
  it('lasts as long as a busy server asks for', async () => {
    const server = new StubTinker('sum');
    const fetch: Fetch = async (url, init) => {
      const response = await server.fetch(url, init);
      const get = (name: string) => (name === 'retry-after-ms' && response.status === 429 ? '60' : null);
      return { ...response, headers: { get } };
    };
    const backend = await create(server, { fetch, backoff: { firstMs: 1, longestMs: 80 } });
    let busy = 1;
    server.fault = (path) =>
      path === '/retrieve_future' && busy-- > 0 ? { status: 429, body: 'busy' } : undefined;
    const started = performance.now();
    expect(await backend.logprobs([[0, 3]])).toHaveLength(1);
    expect(performance.now() - started).toBeGreaterThan(55);
  });

  it.each([
    ['says at once that it is working', { body: { type: 'try_again' } }],
    ['gives up at once', { status: 408, body: 'not yet' }],
  ])('asks less and less often if the server %s', async (_, answer) => {
    const server = new StubTinker('sum');
    const backend = await create(server, { deadlineMs: 200, backoff: { firstMs: 10, longestMs: 40 } });
    server.fault = (path) => (path === '/retrieve_future' ? answer : undefined);
    const begun = asked(server, '/retrieve_future').length;
    await expect(backend.logprobs([[0, 3]])).rejects.toThrow('no result within 200 ms');
    expect(asked(server, '/retrieve_future').length - begun).toBeLessThan(10);
  });
});

describe('the error of a call', () => {
  it.each([
    [
      'a failure with status 200',
      '/forward',
      { body: { error: 'cuda boom' } },
      /got a failure \("cuda boom"\)/,
    ],
    [
      'a result that is gone',
      '/retrieve_future',
      { status: 410, body: '' },
      /410; .*load the last checkpoint$/,
    ],
  ])('quotes the server and says what to do: %s', async (_, path, answer, message) => {
    const server = new StubTinker('sum');
    const backend = await create(server);
    server.fault = (given) => (given === path ? answer : undefined);
    await expect(backend.logprobs([[0, 3]])).rejects.toThrow(message);
  });
});

describe('the end of a Tinker backend', () => {
  it('does not wait for a server that hangs, and asks it nothing more', async () => {
    const server = new StubTinker('sum');
    const backend = await create(server, { closeMs: 40 });
    await backend.forwardBackward(batch, nll);
    server.fault = () => new Promise(() => undefined);
    const pending = backend.forwardBackward(batch, nll);
    const ended = expect(pending).rejects.toThrow(
      'http://server.test/api/v1: the session was closed before the server answered',
    );
    const started = performance.now();
    await backend.close();
    expect(performance.now() - started).toBeLessThan(500);
    await ended;
    const sent = server.asked.length;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(server.asked).toHaveLength(sent);
    expect(asked(server, '/unload_model')).toEqual([]);
  });

  it('waits for calls under way', async () => {
    const backend = await create(new StubTinker('sum'));
    const futures = [backend.forwardBackward(batch, nll), backend.optimStep()] as const;
    await backend.close();
    expect(await futures[1]).toMatchObject({ updates: 1 });
  });
});

it('keeps no results of earlier calls', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const backend = await create(new StubTinker('sum'));
  const results: WeakRef<object>[] = [];
  const ask = async () => void results.push(new WeakRef(await backend.logprobs([[0, 1]])));
  for (let call = 0; call < 5; call++) await ask();
  await expect
    .poll(() => {
      collect();
      return results.filter((one) => one.deref() !== undefined).length;
    })
    .toBe(0);
});
