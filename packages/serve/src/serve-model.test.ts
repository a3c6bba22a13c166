import { setTimeout as pause } from 'node:timers/promises';
import { OptionsError, type Sampler, SamplerError } from '@rlp/core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serveModel } from './index.ts';
import { sampledBy, scriptedPolicy, served } from './served.fixture.ts';

/** A policy that answers when the test lets it, and notes the signals of requests. */
function heldPolicy() {
  const policy = scriptedPolicy(['Yes.']);
  const aborted: unknown[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const sample: Sampler['sample'] = (request) =>
    new Promise((resolve, reject) => {
      request.signal?.addEventListener('abort', () => {
        aborted.push(request.signal!.reason);
        reject(request.signal!.reason);
      });
      held.then(() => policy.sample(request)).then(resolve, reject);
    });
  return { policy: sampledBy(sample), aborted, release };
}

type Server = { readonly url: string; readonly token: string };
const post = ({ url, token }: Server, path: string, body: unknown, init: RequestInit = {}) =>
  fetch(url + path, {
    ...{ method: 'POST', headers: { authorization: `Bearer ${token}` } },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
const ask = (server: Server, more: object = {}, init: RequestInit = {}) =>
  post(server, '/v1/completions', { model: 'tiny', prompt: 'Well?', ...more }, init);
const until = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) await pause(5);
};
const metricsOf = async ({ url, token }: Server) =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();

/** A policy that fails. */
const failing = (error: Error) => sampledBy(() => Promise.reject(error));

describe('serveModel', () => {
  it('listens on loopback with a random token, and shows health without it', async () => {
    const one = await served(scriptedPolicy(['a']));
    const two = await served(scriptedPolicy(['a']));
    expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(one.token).not.toBe(two.token);
    expect((await fetch(`${one.url}/health`)).status).toBe(200);
    expect((await fetch(`${one.url}/v1/models`)).status).toBe(401);
    const refused = await ask({ ...one, token: two.token });
    expect(await refused.json()).toMatchObject({ error: { type: 'authentication_error' } });
    const anthropic = await post({ ...one, token: two.token }, '/v1/messages', {});
    expect(await anthropic.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });

  it('names every wrong option', async () => {
    const wrong = serveModel({ policy: scriptedPolicy(['a']), name: '', maxRequests: 0, token: 'short' });
    await expect(wrong).rejects.toThrow(OptionsError);
    await expect(wrong).rejects.toThrow(/name[\s\S]*token[\s\S]*maxRequests/);
  });

  it('refuses what is not JSON, too large or unknown, and goes on', async () => {
    const server = await served(scriptedPolicy(['Yes.']), { maxBodyBytes: 1000 });
    const statuses = async (...bodies: string[]) =>
      Promise.all(bodies.map(async (body) => (await post(server, '/v1/chat/completions', body)).status));
    expect(await statuses('', '{', '[]', 'null', '"x"', '{"messages":7}', 'x'.repeat(2000))).toEqual([
      ...[400, 400, 400, 400, 400, 400, 413],
    ]);
    expect((await ask(server)).status).toBe(200);
  });

  it('gives 429 with a time to come back when too many wait', async () => {
    const { policy, release } = heldPolicy();
    const server = await served(policy, { maxRequests: 1, maxWaiting: 1 });
    const first = ask(server);
    await until(async () => (await metricsOf(server)).includes('requests_running 1'));
    const second = ask(server);
    await until(async () => (await metricsOf(server)).includes('requests_waiting 1'));
    const third = await ask(server);
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1']);
    release();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(await metricsOf(server)).toContain('rlp_serve_requests_running 0');
  });

  it('gives 504 at the deadline, and frees the place', async () => {
    const { policy, aborted } = heldPolicy();
    const server = await served(policy, { timeoutMs: 40, maxRequests: 1 });
    for (const stream of [false, true]) expect((await ask(server, { stream })).status).toBe(504);
    expect(aborted).toHaveLength(2);
    expect(await metricsOf(server)).toContain('requests_running 0');
  });

  it.each([false, true])('ends the sampling when the client leaves (stream: %s)', async (stream) => {
    const { policy, aborted } = heldPolicy();
    const errors: unknown[] = [];
    const server = await served(policy, { onError: (error) => errors.push(error) });
    const leave = new AbortController();
    const asking = ask(server, { stream }, { signal: leave.signal });
    await until(async () => (await metricsOf(server)).includes('requests_running 1'));
    leave.abort();
    await expect(asking).rejects.toThrow();
    await until(() => aborted.length === 1);
    await until(async () => (await metricsOf(server)).includes('requests_running 0'));
    expect(errors).toEqual([]);
  });

  it('finishes what is under way when it closes, and refuses what is new', async () => {
    const { policy, release } = heldPolicy();
    const server = await served(policy);
    const asking = ask(server);
    await until(async () => (await metricsOf(server)).includes('requests_running 1'));
    const closing = server.close();
    await expect(ask(server)).rejects.toThrow();
    release();
    expect(await (await asking).json()).toMatchObject({ choices: [{ text: 'Yes.' }] });
    await closing;
  });

  it('drops what takes too long to finish', async () => {
    const { policy, aborted } = heldPolicy();
    const server = await served(policy, { closeMs: 30 });
    const asking = ask(server).catch((error: unknown) => error);
    await until(async () => (await metricsOf(server)).includes('requests_running 1'));
    await server.close();
    expect(await asking).toBeInstanceOf(TypeError);
    await until(() => aborted.length === 1);
  });

  it('answers an error of the engine with its message, a bug without details, and never with the token', async () => {
    const told: unknown[] = [];
    const onError = (error: unknown) => told.push(error);
    const one = await served(failing(new SamplerError('the engine ended')), { onError });
    const engine = await ask(one);
    expect([engine.status, await engine.text()]).toEqual([500, expect.stringContaining('the engine ended')]);
    const two = await served(failing(new Error('at /secret/place')), { onError });
    const bug = await ask(two, { stream: true });
    const text = await bug.text();
    expect([bug.status, text]).toEqual([500, expect.stringContaining('the server failed')]);
    expect(text).not.toContain('secret');
    expect(JSON.stringify(told.map(String))).not.toContain(one.token);
    expect(told).toHaveLength(2);
  });

  it('tells of an error in the middle of a stream too', async () => {
    const told: [unknown, number][] = [];
    const bug = new Error('lost the device');
    const policy = sampledBy(async ({ onToken }) => {
      onToken?.({ member: 0, token: 65, logprob: -1 });
      await pause(20);
      throw bug;
    });
    const server = await served(policy, { onError: (...given) => told.push(given) });
    const streamed = await ask(server, { stream: true });
    expect([streamed.status, await streamed.text()]).toEqual([200, expect.stringContaining('see its log')]);
    expect(told).toEqual([[bug, 500]]);
  });

  it('logs errors that clients do not see, and no others, unless it is told where to', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => log.mockRestore());
    const bug = new TypeError('foo is undefined');
    expect((await ask(await served(failing(bug)))).status).toBe(500);
    expect((await ask(await served(failing(new SamplerError('the engine ended'))))).status).toBe(500);
    expect(log.mock.calls).toEqual([['serveModel: a request got status 500', bug]]);
  });

  it('counts requests and tokens for Prometheus', async () => {
    const server = await served(scriptedPolicy(['Yes.']));
    await ask(server);
    await fetch(`${server.url}/somewhere/else`, { headers: { authorization: `Bearer ${server.token}` } });
    const metrics = await metricsOf(server);
    expect(metrics).toContain('rlp_serve_requests_total{route="/v1/completions",status="200"} 1');
    expect(metrics).toContain('rlp_serve_prompt_tokens_total 5\n');
    expect(metrics).toContain('rlp_serve_completion_tokens_total 5\n');
    expect(metrics).not.toContain('somewhere');
  });

  it('repeats the answers of a seed, and draws others without one', async () => {
    const policy = scriptedPolicy(({ seed, member }) => `${seed}.${member}`);
    const server = await served(policy, { seed: 'run' });
    const textsOf = async (more: object) =>
      ((await (await ask(server, more)).json()) as { choices: { text: string }[] }).choices.map(
        ({ text }) => text,
      );
    expect(await textsOf({ seed: 7, n: 2 })).toEqual(['7.0', '7.1']);
    expect(await textsOf({})).toEqual(['run/1.0']);
    expect(await textsOf({})).toEqual(['run/2.0']);
  });
});
