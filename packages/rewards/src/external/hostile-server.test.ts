import { createServer, type Socket } from 'node:net';
import type { RequestError } from '@rlp/http/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ExternalRewardOptions, externalReward } from '../external.ts';
import { loopback, nowhere } from './loopback.fixture.ts';

const { signal } = new AbortController();
const episode = { prompt: 'p', response: 'r', metadata: {} };
const quick = { timeoutMs: 2000, backoff: { firstMs: 1, longestMs: 2 } } as const;

/** A server that says what it likes: called with each request that came whole, and how many came before. */
async function rawServer(answer: (socket: Socket, request: number) => void): Promise<string> {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      if (data.toString().includes('"response"')) answer(socket, requests++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { readonly port: number }).port}/`;
}

const json = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const chunked = (rest: string) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${rest}`;
const one = '{"reward": 1}';

describe('externalReward', () => {
  const reward = (url: string, options: Partial<ExternalRewardOptions> = {}) =>
    externalReward({ url, ...quick, ...options });
  const outcome = (asked: Promise<number | null>) => asked.catch((error: RequestError) => error.failure);

  it.each<[string, (socket: Socket) => void, string | number]>([
    ['closes without a word', (socket) => socket.end(), 'unreachable'],
    ['resets the connection', (socket) => socket.resetAndDestroy(), 'unreachable'],
    ['speaks something else', (socket) => socket.end('220 smtp.example ESMTP\r\n'), 'unreachable'],
    ['breaks off within the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'), 'unreachable'],
    [
      'breaks off within the answer',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"reward": 1'),
      'unreachable',
    ],
    [
      'breaks off between pieces of the answer',
      (socket) => socket.end(chunked('4\r\n{"re\r\n')),
      'unreachable',
    ],
    [
      'sends headers without end',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}`),
      'unreachable',
    ],
    [
      'changes the protocol',
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      'unreachable',
    ],
    [
      'refuses and breaks off',
      (socket) => socket.end('HTTP/1.1 400 No\r\ncontent-length: 99\r\n\r\nno'),
      'status',
    ],
    ['never answers', () => undefined, 'timed-out'],
    ['never ends its answer', (socket) => socket.write(chunked('4\r\n{"re\r\n')), 'timed-out'],
    ['has nothing to say', (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'), 'status'],
    ['compresses', (socket) => socket.write(json('\u001f\u008b garbage')), 'malformed'],
    ['answers in pieces', (socket) => socket.write(chunked(`d\r\n${one}\r\n0\r\n\r\n`)), 1],
    ['begins with a byte order mark', (socket) => socket.write(json(`\ufeff${one}`)), 1],
    ['nests without end', (socket) => socket.write(json('['.repeat(200_000))), 'malformed'],
  ])('holds against a server that %s', async (_, answer, expected) => {
    const timeoutMs = expected === 'timed-out' ? 40 : 2000;
    const external = reward(await rawServer(answer), { attempts: 2, timeoutMs });
    expect(await outcome(external.score(episode, { signal }))).toBe(expected);
    const { requests, inFlight } = external.getStatistics();
    expect([requests, inFlight]).toEqual([
      ['unreachable', 'timed-out'].includes(String(expected)) ? 2 : 1,
      0,
    ]);
  });

  it('asks again when a connection that was kept is gone', async () => {
    const url = await rawServer((socket, request) => {
      if (request === 1) socket.resetAndDestroy();
      else socket.write(json(one));
    });
    const external = reward(url);
    expect(await external.score(episode, { signal })).toBe(1);
    expect(await external.score(episode, { signal })).toBe(1);
    expect(external.getStatistics()).toMatchObject({ requests: 3, retries: 1, failures: { unreachable: 0 } });
  });

  it('takes nothing, and no token, to where a redirect leads', async () => {
    const elsewhere = await loopback((_body, response) => response.end(one));
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await rawServer((socket) =>
        socket.write(`HTTP/1.1 ${status} There\r\nlocation: ${elsewhere.url}\r\ncontent-length: 0\r\n\r\n`),
      );
      const external = reward(url, { token: 's3cret' });
      expect(await outcome(external.score(episode, { signal }))).toBe('redirected');
    }
    expect(elsewhere.requests).toEqual([]);
  });

  it('closes the connection of a request that is given up, and keeps to its limit then', async () => {
    let open = 0;
    let most = 0;
    const url = await rawServer((socket) => {
      most = Math.max(most, ++open);
      socket.write(chunked('4\r\n{"re\r\n'));
      socket.on('close', () => open--);
    });
    const external = reward(url, { concurrency: 8, timeoutMs: 60_000 });
    const controllers = Array.from({ length: 2000 }, () => new AbortController());
    const asked = controllers.map((one) => external.score(episode, { signal: one.signal }));
    const settled = Promise.allSettled(asked);
    for (const controller of controllers) {
      if (open === 8 || controller === controllers[0]) await new Promise(setImmediate);
      controller.abort(new Error('enough'));
    }
    expect((await settled).every((one) => one.status === 'rejected' && one.reason.message === 'enough')).toBe(
      true,
    );
    await expect.poll(() => open).toBe(0);
    expect(most).toBeLessThanOrEqual(8);
    expect(external.getStatistics()).toMatchObject({ inFlight: 0, circuit: 'closed' });
  });
});

it.each([
  ['[1, null, 0]', [1, null, 0]],
  ['[1, "0.5", 2]', [1, 'malformed', 2]],
  ['[1, 1e999, [0]]', [1, 'not-finite', 'malformed']],
  ['[1, {"valueOf": 1}, true]', [1, 'malformed', 'malformed']],
])('reads of the rewards %s each for itself', async (rewards, expected) => {
  const server = await loopback((_body, response) => response.end(`{"rewards": ${rewards}}`));
  const external = externalReward({ url: server.url, batchSize: 3, concurrency: 1 });
  const asked = Array.from({ length: 3 }, () => external.score(episode, { signal }));
  const outcomes = asked.map((one) => one.catch((error: RequestError) => error.failure));
  // The first question does not wait for others.
  expect(await Promise.all(outcomes)).toEqual(expected);
});

it('says why, also of an address with several numbers', async () => {
  const url = (await nowhere()).replace('127.0.0.1', 'localhost');
  const external = externalReward({ url, attempts: 1 });
  await expect(external.score(episode, { signal })).rejects.toThrow(/localhost.*ECONNREFUSED/);
});

it('refuses headers that no request can carry, before there is one', () => {
  expect(() => externalReward({ url: 'http://x/', headers: { 'x-a': 'b\r\nhost: evil' } })).toThrow(
    /headers/,
  );
  expect(() => externalReward({ url: 'http://x/', headers: { 'x a': 'b' } })).toThrow(/headers/);
});
