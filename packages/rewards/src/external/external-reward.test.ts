import type { ServerResponse } from 'node:http';
import { OptionsError, type Trajectory } from '@rlp/core';
import { RequestError } from '@rlp/http/client';
import { describe, expect, it } from 'vitest';
import { type ExternalReward, episodeShape, externalReward } from '../external.ts';
import { rewardFunctions } from '../functions/reward-functions.ts';
import { loopback, nowhere } from './loopback.fixture.ts';

const { signal } = new AbortController();
const quick = { backoff: { firstMs: 1, longestMs: 4 }, timeoutMs: 500 } as const;

interface Asked {
  readonly prompt: string;
  readonly response: string;
  readonly metadata: { readonly answer?: string };
  readonly episodes?: readonly Asked[];
}

const episode = (response: string) => ({ prompt: 'p', response, metadata: { answer: 'x' } });

/** Each episode's reward, or why it has none. */
const ask = (external: ExternalReward, responses: readonly string[]) =>
  Promise.all(
    responses.map((response) =>
      external
        .score(episode(response), { signal })
        .catch((error: unknown) => (error as RequestError).failure),
    ),
  );

describe('externalReward', () => {
  it('posts prompt, response and metadata, and reads the reward', async () => {
    const server = await loopback((body: Asked, response) =>
      response.end(JSON.stringify({ reward: body.response.length / 4 })),
    );
    const external = externalReward({ url: server.url, token: 's3cret', headers: { 'x-run': '7' } });
    expect(await external.score(episode('abc'), { signal })).toBe(0.75);
    expect(server.bodies).toEqual([episode('abc')]);
    expect(server.requests[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer s3cret',
      'x-run': '7',
    });
    expect(external.getStatistics()).toMatchObject({ episodes: 1, scored: 1, requests: 1, inFlight: 0 });
  });

  it.each([
    ['{"reward": 1', 'malformed'],
    ['{"reward": NaN}', 'malformed'],
    ['{"reward": "1"}', 'malformed'],
    ['{"score": 1}', 'malformed'],
    ['7', 'malformed'],
    ['', 'malformed'],
    ['{"reward": 1e999}', 'not-finite'],
    ['{"reward": null}', null],
    ['{"rewards": [1, 2]}', 'malformed'],
  ])('reads the answer %s as %s, and only for its episode', async (text, outcome) => {
    const server = await loopback((body: Asked, response) =>
      response.end(body.response === 'bad' ? text : '{"reward": 0.5}'),
    );
    const external = externalReward({ url: server.url, ...quick });
    expect(await ask(external, ['a', 'bad', 'b'])).toEqual([0.5, outcome, 0.5]);
    const { failures, unscorable, requests } = external.getStatistics();
    expect([requests, unscorable]).toEqual([3, outcome === null ? 1 : 0]);
    if (outcome !== null) expect(failures).toMatchObject({ [outcome]: 1 });
  });

  it("takes a body that a shape of one's own throws on for malformed", async () => {
    const server = await loopback((_, response) => response.end('{}'));
    const shape = {
      ...episodeShape,
      readAnswer: (body: unknown) => [(body as { rewards: number[] }).rewards[0]!],
    };
    const external = externalReward({ url: server.url, ...quick, shape });
    expect(await ask(external, ['a'])).toEqual(['malformed']);
    expect(external.getStatistics().lastFailure).toContain('undefined');
  });

  it('gives up on what is unreachable, slow, endless or elsewhere', async () => {
    const server = await loopback((body: Asked, response) => {
      if (body.response === 'slow') response.write('{"reward":');
      else if (body.response === 'elsewhere') response.writeHead(307, { location: server.url }).end();
      else {
        const write = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
        };
        response.on('drain', write);
        write();
      }
    });
    const external = externalReward({
      url: server.url,
      ...quick,
      timeoutMs: 400,
      attempts: 1,
      maxAnswerBytes: 300_000,
    });
    expect(await ask(external, ['slow', 'elsewhere', 'endless'])).toEqual([
      'timed-out',
      'redirected',
      'too-long',
    ]);
    const nobody = externalReward({ url: await nowhere(), ...quick });
    expect(await ask(nobody, ['a'])).toEqual(['unreachable']);
    expect(nobody.getStatistics()).toMatchObject({ requests: 3, retries: 2, failures: { unreachable: 1 } });
    expect(nobody.getStatistics().lastFailure).toContain('ECONNREFUSED');
  });

  it('asks again where that may help, after what the server asks for', async () => {
    let asked = 0;
    const begun = performance.now();
    const server = await loopback((_: Asked, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(429, { 'retry-after': '0.05' }).end();
      else if (asked === 2) response.writeHead(503).end();
      else response.end('{"reward": 1}');
    });
    const external = externalReward({
      url: server.url,
      timeoutMs: 500,
      backoff: { firstMs: 1, longestMs: 60 },
    });
    expect(await ask(external, ['a'])).toEqual([1]);
    expect(performance.now() - begun).toBeGreaterThan(49);
    expect(external.getStatistics()).toMatchObject({ requests: 3, retries: 2, scored: 1 });
  });

  it.each([400, 401, 404, 422])('does not ask again after %d', async (status) => {
    const server = await loopback((_: Asked, response) => response.writeHead(status).end());
    const external = externalReward({ url: server.url, ...quick });
    expect(await ask(external, ['a'])).toEqual(['status']);
    expect(external.getStatistics().requests).toBe(1);
  });

  it('says what to do about a wrong token and a server that is away', async () => {
    const server = await loopback((_: Asked, response) => response.writeHead(401).end());
    const refused = externalReward({ url: server.url, ...quick });
    await ask(refused, ['a']);
    expect(refused.getStatistics().lastFailure).toContain('expected status 200, got 401; check `token`');
    const gone = externalReward({ url: 'http://127.0.0.1:9', ...quick });
    await ask(gone, ['a']);
    expect(gone.getStatistics().lastFailure).toContain('check that the server runs');
  });

  it('keeps to its concurrency', async () => {
    const waiting: ServerResponse[] = [];
    let most = 0;
    const server = await loopback((_: Asked, response) => {
      most = Math.max(most, waiting.push(response));
      // Answered once seven are there, and an eighth would have had time to come.
      if (waiting.length < 7) return;
      setTimeout(() => {
        for (const one of waiting.splice(0)) one.end('{"reward": 1}');
      }, 5);
    });
    const external = externalReward({ url: server.url, concurrency: 7 });
    await ask(external, Array.from({ length: 42 }, String));
    expect(most).toBe(7);
    expect(external.getStatistics().peakInFlight).toBe(7);
  });

  it('sends together what waits together, and repeats a refused batch one by one', async () => {
    const server = await loopback(({ episodes, response: text }: Asked, response) => {
      const texts = episodes?.map((one) => one.response) ?? [text];
      if (texts.includes('poison')) return void response.writeHead(422).end();
      const rewards = texts.map((one) => one.length).slice(0, texts.includes('lost') ? 1 : undefined);
      response.end(JSON.stringify(episodes === undefined ? { reward: rewards[0] } : { rewards }));
    });
    const external = externalReward({ url: server.url, batchSize: 4, concurrency: 2, ...quick });
    const responses = ['a', 'bb', 'ccc', 'poison', 'd', 'ee', 'lost', 'f', 'gg'];
    expect(await ask(external, responses)).toEqual([1, 2, 3, 'status', 1, 2, 4, 1, 2]);
    const sizes = server.bodies.map((body) => (body as Asked).episodes?.length ?? 1).sort((a, b) => b - a);
    expect(sizes).toEqual([4, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it('keeps the answers used last', async () => {
    const server = await loopback((body: Asked, response) =>
      response.end(JSON.stringify({ reward: body.response === 'none' ? null : 1 })),
    );
    const external = externalReward({ url: server.url, cacheSize: 2 });
    for (const text of ['a', 'none', 'a', 'none', 'a', 'c', 'a', 'none']) await ask(external, [text]);
    expect(external.getStatistics()).toMatchObject({ episodes: 8, fromCache: 4, requests: 4 });
  });

  it('stops asking a server that keeps failing, and looks again later', async () => {
    let status = 500;
    let time = 0;
    const server = await loopback((_: Asked, response) => response.writeHead(status).end('{"reward": 1}'));
    const external = externalReward({
      url: server.url,
      ...quick,
      attempts: 1,
      concurrency: 1,
      circuit: { failures: 2, coolDownMs: 1000 },
      clock: () => time,
    });
    expect(await ask(external, ['a', 'b', 'c'])).toEqual(['status', 'status', 'circuit-open']);
    time = 999;
    expect(await ask(external, ['a'])).toEqual(['circuit-open']);
    time = 1000;
    expect(external.getStatistics().circuit).toBe('half-open');
    expect(await ask(external, ['a', 'b'])).toEqual(['status', 'circuit-open']);
    time = 2000;
    status = 200;
    expect(await ask(external, ['a', 'b'])).toEqual([1, 1]);
    expect(external.getStatistics().circuit).toBe('closed');
  });

  it('names what opened the circuit, and asks about all that waits once the server is back', async () => {
    let status = 503;
    let time = 0;
    const server = await loopback((_: Asked, response) => response.writeHead(status).end('{"reward": 1}'));
    const external = externalReward({
      url: server.url,
      ...quick,
      attempts: 2,
      circuit: { failures: 2, coolDownMs: 1000 },
      clock: () => time,
    });
    const many = ['a', 'b', 'c', 'd', 'e', 'f'];
    // What was sent counts as what became of it, although the circuit opened before the second attempt.
    expect(await ask(external, many)).toEqual(many.map(() => 'status'));
    const refused: unknown = await external.score(episode('g'), { signal }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ failure: 'circuit-open', cause: { failure: 'status', status: 503 } });
    expect(String(refused)).toContain(
      'expected status 200, got 503; not asked again, since the last 2 requests had no answer',
    );
    status = 200;
    time = 1000;
    expect(await ask(external, many)).toEqual(many.map(() => 1));
  });

  it('ends with the signal, while it waits in the queue, for an answer or for another attempt', async () => {
    const server = await loopback(() => undefined);
    const external = externalReward({ url: server.url, concurrency: 1 });
    const controller = new AbortController();
    const asked = ['a', 'b'].map((text) => external.score(episode(text), { signal: controller.signal }));
    const outcomes = Promise.allSettled(asked);
    setTimeout(() => controller.abort(new Error('enough')), 20);
    expect(await outcomes).toMatchObject([
      { reason: { message: 'enough' } },
      { reason: { message: 'enough' } },
    ]);
    const nobody = externalReward({ url: await nowhere(), backoff: { firstMs: 5000 } });
    const waiting = nobody.score(episode('a'), { signal: AbortSignal.timeout(30) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(external.getStatistics().inFlight).toBe(0);
  });

  it('never shows secrets', async () => {
    const token = 'tok-123456';
    const fetch = () => Promise.reject(new Error(`cannot send Bearer ${token} to http://rm.example/?key=k1`));
    const external = externalReward({ url: 'http://rm.example/?key=k1', token, fetch, attempts: 1 });
    const error: unknown = await external.score(episode('a'), { signal }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RequestError);
    expect(JSON.stringify([String(error), external.getStatistics()])).not.toMatch(/tok-123|k1/);
    const withPassword = () => externalReward({ url: 'http://u:pw@rm.example' });
    expect(withPassword).toThrow(
      'url: must hold no user and no password; send them as `token` or in `headers`',
    );
    expect(withPassword).not.toThrow('pw@');
    expect(() => externalReward({ url: 'ftp://x', token: 'a b', batchSize: 2, shape: 'slime' })).toThrow(
      /url: [\s\S]*token: must be visible ASCII/,
    );
    expect(() => externalReward({ url: 'http://x/', batchSize: 2, shape: 'slime' })).toThrow(OptionsError);
  });

  it('speaks to reward models of slime and OpenRLHF', async () => {
    const slime = await loopback((body: { label: string }, response) =>
      response.end(body.label === 'x' ? '0.25' : '{"score": 1}'),
    );
    const toSlime = externalReward({ url: slime.url, shape: 'slime' });
    expect(await ask(toSlime, ['a'])).toEqual([0.25]);
    expect(slime.bodies).toEqual([{ prompt: 'p', response: 'a', label: 'x' }]);
    expect(await toSlime.score({ prompt: 'p', response: 'a', metadata: {} }, { signal })).toBe(1);

    const openRlhf = await loopback((body: { query: string[] }, response) =>
      response.end(JSON.stringify({ rewards: body.query.map((text) => text.length) })),
    );
    const toOpenRlhf = externalReward({ url: openRlhf.url, shape: 'openrlhf', batchSize: 8 });
    expect(await ask(toOpenRlhf, ['a', 'bb'])).toEqual([2, 3]);
    expect(openRlhf.bodies).toEqual([{ query: ['pa', 'pbb'], prompts: ['p', 'p'], labels: ['x', 'x'] }]);
  });

  it('is a reward of trajectories', async () => {
    const server = await loopback((body: Asked, response) =>
      response.end(JSON.stringify({ reward: body.metadata.answer === body.response ? 1 : 0 })),
    );
    const external = externalReward({ url: server.url });
    const rewards = rewardFunctions<{ answer: string }>({ remote: { reward: external.reward } });
    const task = { id: 'a', prompt: [{ role: 'user', content: 'q' }] as const, metadata: { answer: '4' } };
    const trajectories = ['4', '5'].map(
      (response, member): Trajectory<{ answer: string }> => ({
        ...{ id: String(member), task, steps: [], messages: [], response },
        ...{ status: 'completed', policyVersion: 0 },
      }),
    );
    const scored = await rewards.computeRewards({ id: 'g', task, trajectories });
    expect(scored.map(({ reward }) => reward)).toEqual([1, 0]);
    expect(server.bodies[0]).toMatchObject({ prompt: 'q' });
  });

  it('does not send what is no JSON', async () => {
    const loop: Record<string, unknown> = {};
    loop.loop = loop;
    const external = externalReward({ url: 'http://127.0.0.1:1/' });
    const asked = external.score({ prompt: 'p', response: 'r', metadata: loop }, { signal });
    await expect(asked).rejects.toMatchObject({ failure: 'unsendable' });
    expect(external.getStatistics().requests).toBe(0);
  });
});
