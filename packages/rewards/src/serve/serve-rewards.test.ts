import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { RewardFunction } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { relativeRewardComputer } from '../computers.ts';
import { externalReward } from '../external.ts';
import { rewardFunctions } from '../index.ts';
import { type RewardServer, type ServeRewardsOptions, serveRewards } from '../serve.ts';
import { createDefaultVerifierPipeline } from '../verification.ts';

const { signal } = new AbortController();
const answered = z.object({ answer: z.string() });
type Answered = z.infer<typeof answered>;

const exact: RewardFunction<Answered> = ({ task, response }) => {
  if (response === 'throw') throw new Error('secret of the reward');
  if (response === 'nan') return Number.NaN;
  return response === task.metadata.answer ? 1 : 0;
};

async function serve<Metadata>(options: ServeRewardsOptions<Metadata>): Promise<RewardServer> {
  const server = await serveRewards(options);
  onTestFinished(() => server.close());
  return server;
}

const serveExact = (options: Partial<ServeRewardsOptions<Answered>> = {}) =>
  serve<Answered>({ rewards: exact, metadata: answered, ...options });

const post = async (server: RewardServer, path: string, body: unknown, init: RequestInit = {}) => {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
  return [response.status, await response.json()] as const;
};

const episode = (response: unknown, answer: unknown = '4') => ({
  prompt: '2+2=',
  response,
  metadata: { answer },
});

describe('serveRewards', () => {
  it('answers one episode, or several at once', async () => {
    const server = await serveExact();
    expect(await post(server, '/', episode('4'))).toEqual([200, { reward: 1 }]);
    expect(await post(server, '/episode', { episodes: [episode('4'), episode('5')] })).toEqual([
      200,
      { rewards: [1, 0] },
    ]);
    expect(await post(server, '/', { episodes: [] })).toEqual([200, { rewards: [] }]);
    expect(server.getStatistics()).toMatchObject({ answered: 3, scored: 3, unscorable: 0, inFlight: 0 });
  });

  it('gives null to what cannot be scored, and to nothing else, and says what cannot be read', async () => {
    const server = await serveExact();
    const episodes = [
      episode('4'),
      episode('throw'),
      episode('nan'),
      episode(7),
      episode('4', 4),
      null,
      episode('4'),
    ];
    const problems = [
      'episode 3: expected the response to be text, got 7',
      expect.stringMatching('^episode 4: metadata: answer: '),
      'episode 5: expected an object with prompt and response, got null',
      'episode 1: reward "exact": threw',
      'episode 2: reward "exact": not-finite',
    ];
    expect(await post(server, '/', { episodes })).toEqual([
      200,
      { rewards: [1, null, null, null, null, null, 1], problems },
    ]);
    const threw = ['episode 0: reward "exact": threw'];
    expect(await post(server, '/', episode('throw'))).toEqual([200, { reward: null, problems: threw }]);
    expect(server.getStatistics().lastFailure).toBe('reward "exact": secret of the reward');
    const penalised = await serveExact({ unscorable: -1 });
    expect(await post(penalised, '/', episode('throw'))).toEqual([200, { reward: -1, problems: threw }]);
  });

  it('speaks the shapes of slime and OpenRLHF', async () => {
    const server = await serve({
      rewards: (({ task, response }) => (response === task.metadata.label ? 1 : 0)) as RewardFunction<{
        label?: string | undefined;
      }>,
      metadata: z.object({ label: z.string().optional() }),
    });
    expect(await post(server, '/slime', { prompt: 'p', response: 'a', label: 'a' })).toEqual([200, 1]);
    expect(
      await post(server, '/slime', { prompt: [{ role: 'user', content: 'p' }], response: 'b', label: 'a' }),
    ).toEqual([200, 0]);
    expect(
      await post(server, '/openrlhf', { query: ['pa', 'pb'], prompts: ['p', 'p'], labels: ['a', 'a'] }),
    ).toEqual([200, { rewards: [1, 0] }]);
    expect(await post(server, '/openrlhf', { query: ['pa', 'pb'], labels: ['a'] })).toMatchObject([400, {}]);
  });

  it('serves computers, with a request as the group, and verifiers', async () => {
    const lengths = rewardFunctions<unknown>({ length: { reward: ({ response }) => response.length } });
    const relative = await serve({ rewards: relativeRewardComputer(lengths) });
    const [, body] = await post(relative, '/', { episodes: ['a', 'aaa', 'aa'].map((text) => episode(text)) });
    const { rewards } = body as { readonly rewards: number[] };
    expect(rewards[0]).toBeLessThan(rewards[2]!);
    expect(rewards[2]).toBeLessThan(rewards[1]!);
    const verifier = await serve({ rewards: createDefaultVerifierPipeline() });
    const [, report] = await post(verifier, '/', episode('It costs 5 * 4 = 20 dollars.'));
    expect((report as { readonly reward: number }).reward).toBeGreaterThan(0.6);
  });

  it.each([
    ['a wrong token', '/', { headers: { authorization: 'Bearer no' } }, 401],
    ['no token', '/', { headers: {} }, 401],
    ['another path', '/other', {}, 404],
    ['a path of Object.prototype', '/constructor', {}, 404],
    ['another method', '/', { method: 'PUT' }, 405],
    ['another type', '/', { type: 'text/plain' }, 415],
    ['no JSON', '/', { body: '{' }, 400],
    ['another body', '/', { body: '[]' }, 400],
    ['too much', '/', { body: `"${'x'.repeat(2000)}"` }, 413],
  ])('refuses %s', async (_, path, { type, headers, body, ...init }: Record<string, unknown>, status) => {
    const server = await serveExact({ maxBodyBytes: 1000 });
    const usual = { authorization: `Bearer ${server.token}`, 'content-type': type ?? 'application/json' };
    const given = { headers: (headers ?? usual) as Record<string, string>, ...init };
    const [code, answer] = await post(server, path, body ?? episode('4'), given);
    expect([code, answer]).toEqual([status, { error: expect.any(String) }]);
    expect(JSON.stringify(answer)).not.toContain(server.token);
    expect(server.getStatistics().refused).toEqual({ [status]: 1 });
  });

  it('refuses names that were pointed at this machine', async () => {
    const server = await serveExact({ authentication: 'none' });
    const asked = httpRequest(`${server.url}/`, { method: 'POST', headers: { host: 'evil.example' } });
    asked.end('{}');
    const [response] = await once(asked, 'response');
    expect(response.statusCode).toBe(403);
    response.resume();
    expect(
      await post(server, '/', episode('4'), { headers: { 'content-type': 'application/json' } }),
    ).toEqual([200, { reward: 1 }]);
  });

  it('does not tell why a reward failed, and ends one that takes too long', async () => {
    const broken = await serve({ rewards: { computeRewards: () => Promise.reject(new Error('secret')) } });
    expect(await post(broken, '/', episode('4'))).toEqual([500, { error: 'the reward failed' }]);
    expect(broken.getStatistics().lastFailure).toBe('secret');
    let ended = false;
    const slow = await serve({
      timeoutMs: 50,
      rewards: {
        computeRewards: (_group, options) =>
          new Promise(() => options?.signal?.addEventListener('abort', () => (ended = true))),
      },
    });
    expect(await post(slow, '/', episode('4'))).toMatchObject([504, {}]);
    expect(ended).toBe(true);
  });

  it('refuses requests with more episodes than it takes', async () => {
    const server = await serve({ rewards: () => 1, maxEpisodes: 2 });
    const ask = (count: number) => post(server, '/', { episodes: Array(count).fill(episode('4')) });
    expect(await ask(2)).toEqual([200, { rewards: [1, 1] }]);
    const error = 'expected at most 2 episodes, got 3; split the request or raise maxEpisodes';
    expect(await ask(3)).toEqual([413, { error }]);
    const many = await serve({ rewards: () => 1 });
    expect((await post(many, '/openrlhf', { query: Array(4097).fill('') }))[0]).toBe(413);
  });

  it('lets others have their turn during a large request, and ends it in time', async () => {
    const busy = () => {
      const until = performance.now() + 0.5;
      while (performance.now() < until);
      return 1;
    };
    const server = await serve({ rewards: busy, maxEpisodes: 100_000, timeoutMs: 1000 });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    onTestFinished(() => clearInterval(timer));
    const begun = performance.now();
    const large = post(server, '/', { episodes: Array(20_000).fill(episode('4')) });
    const small = await Promise.all(Array.from({ length: 5 }, () => post(server, '/', episode('4'))));
    expect(small.map(([status]) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await large)[0]).toBe(504);
    // It would take 10 s.
    expect(performance.now() - begun).toBeLessThan(6000);
    expect(turns).toBeGreaterThan(5);
  });

  it('scores the episodes of a request at the same time', async () => {
    const slow: RewardFunction = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return 1;
    };
    const server = await serve({ rewards: slow, timeoutMs: 5000 });
    const begun = performance.now();
    const answer = await post(server, '/', { episodes: Array(320).fill(episode('4')) });
    expect(answer).toEqual([200, { rewards: Array(320).fill(1) }]);
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('tells the reward when the client goes away', async () => {
    let leave = () => undefined as unknown;
    const told = new Promise<void>((resolve) => {
      leave = () => resolve();
    });
    let arrive = () => undefined as unknown;
    const arrived = new Promise<void>((resolve) => {
      arrive = () => resolve();
    });
    const server = await serve({
      rewards: {
        computeRewards: (_group, options) => {
          options?.signal?.addEventListener('abort', () => leave());
          arrive();
          return new Promise(() => undefined);
        },
      },
    });
    const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
    const asked = httpRequest(server.url, { method: 'POST', headers });
    asked.on('error', () => undefined);
    asked.end(JSON.stringify(episode('4')));
    await arrived;
    asked.destroy();
    await told;
  });

  it('lets requests under way finish when it closes, up to a limit', async () => {
    const asked = new Map<string, (reward: number) => void>();
    const server = await serve({
      closeMs: 500,
      rewards: ({ response }) => new Promise((resolve) => asked.set(response, resolve)),
    });
    const soon = post(server, '/', episode('soon'));
    const late = post(server, '/', episode('late')).catch(() => 'cut');
    await expect.poll(() => asked.size, { timeout: 20_000 }).toBe(2);
    const closing = server.close();
    asked.get('soon')!(1);
    expect(await soon).toEqual([200, { reward: 1 }]);
    expect(await late).toBe('cut');
    await closing;
    await server.close();
    await expect(fetch(`${server.url}/health`).catch(() => 'closed')).resolves.toBe('closed');
  });

  it('has a token by its type unless authentication may be none', async () => {
    await using server = await serveRewards({ rewards: exact, metadata: answered });
    const token: string = server.token;
    expect(token.length).toBeGreaterThan(40);
    await using open = await serveRewards({ rewards: exact, metadata: answered, authentication: 'none' });
    // @ts-expect-error there may be none
    const none: string = open.token;
    expect(none).toBeUndefined();
  });

  it('ends with its signal', async () => {
    const controller = new AbortController();
    const server = await serveExact({ signal: controller.signal });
    const { url } = server;
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok' });
    controller.abort();
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  it('is understood by our own client', async () => {
    const server = await serveExact();
    for (const [shape, batchSize] of [
      ['episode', 1],
      ['episode', 16],
    ] as const) {
      const external = externalReward({
        url: `${server.url}/${shape}`,
        token: server.token,
        shape,
        batchSize,
      });
      const responses = Array.from({ length: 40 }, (_, k) =>
        k % 3 === 0 ? '4' : k % 3 === 1 ? '5' : 'throw',
      );
      const rewards = await Promise.all(
        responses.map((response) =>
          external.score({ prompt: 'p', response, metadata: { answer: '4' } }, { signal }),
        ),
      );
      expect(rewards).toEqual(
        responses.map((response) => (response === '4' ? 1 : response === '5' ? 0 : null)),
      );
      expect(external.getStatistics().requests).toBe(batchSize === 1 ? 40 : 3);
    }
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;
  it.skipIf(!hasPython)('is understood by Python', async () => {
    const server = await serveExact();
    const script = `
import json, sys, urllib.request
url, token = sys.argv[1:3]
def ask(body):
    request = urllib.request.Request(url, data=json.dumps(body).encode(), headers={
        "Content-Type": "application/json", "Authorization": "Bearer " + token})
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)
one = {"prompt": "2+2=", "response": "4", "metadata": {"answer": "4"}}
print(json.dumps([ask(one), ask({"episodes": [one, {**one, "response": "five \\u00e9"}]})]))
`;
    const python = spawn('python3', ['-c', script, server.url, server.token ?? '']);
    let output = '';
    for await (const chunk of python.stdout) output += chunk;
    expect(JSON.parse(output)).toEqual([{ reward: 1 }, { rewards: [1, 0] }]);
  });
});
