import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { externalReward } from '../external.ts';
import { type ServeRewardsOptions, serveRewards } from '../serve.ts';

const token = 'tttttttttttttttt';
const body = '{"prompt": "p", "response": "r"}';

const serve = async (options: Partial<ServeRewardsOptions> = {}) => {
  const server = await serveRewards({ rewards: ({ response }) => response.length, token, ...options });
  onTestFinished(() => server.close());
  return server;
};

/** Sends bytes as they are; gives what came back once the server closes, or after `until` has come. */
function send(port: number, text: string, until?: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let came = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (data) => {
      came += data;
      if (until?.test(came)) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(came));
    onTestFinished(() => void socket.destroy());
  });
}

const head = (rest: string, path = '/') =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n${rest}\r\n\r\n`;

describe('serveRewards', () => {
  it.each([
    ['is no HTTP', 'hello\r\n\r\n', 400],
    ['has a path that is none', `${head(`content-length: ${body.length}`, '//')}${body}`, 400],
    ['has two lengths', `${head('content-length: 2\r\ncontent-length: 4')}{}{}`, 400],
    ['has a length and pieces', `${head('content-length: 2\r\ntransfer-encoding: chunked')}{}`, 400],
    ['has headers without end', head(`x: ${'y'.repeat(100_000)}`), 431],
    ['has a body that is no UTF-8 text in JSON', `${head('content-length: 3')}\u00ff{}`, 400],
    ['holds other values', `${head('content-length: 16')}{"episodes": {}}`, 400],
  ])('refuses a request that %s', async (_, text, status) => {
    const server = await serve();
    expect(await send(server.port, text, /^HTTP\S+ \d+/)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(server.getStatistics()).toMatchObject({ answered: 0, inFlight: 0 });
  });

  it('ends a request that never ends', async () => {
    const server = await serve({ timeoutMs: 60 });
    expect(await send(server.port, `${head('content-length: 99')}{"pro`)).toMatch(/^HTTP\/1.1 408 /);
    expect(await send(server.port, 'POST / HT')).toMatch(/^HTTP\/1.1 408 /);
    await expect.poll(() => server.getStatistics().inFlight).toBe(0);
  });

  it('forgets who goes away within the body', async () => {
    const server = await serve();
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(`${head('content-length: 99')}{"pro`),
    );
    await expect.poll(() => server.getStatistics().inFlight).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => server.getStatistics().inFlight).toBe(0);
    expect(server.getStatistics().refused).toEqual({});
  });

  it('gives the turn of who went away to others, though the reward goes on', async () => {
    const server = await serve({
      concurrency: 1,
      rewards: ({ response }) => (response === 'r' ? new Promise(() => undefined) : 1),
    });
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(`${head(`content-length: ${body.length}`)}${body}`),
    );
    await expect.poll(() => server.getStatistics().inFlight).toBe(1);
    socket.destroy();
    const external = externalReward({ url: server.url, token });
    const { signal } = new AbortController();
    expect(await external.score({ prompt: '', response: 'other', metadata: {} }, { signal })).toBe(1);
  });

  it('gives null to metadata that its schema cannot take, and to nothing else', async () => {
    const metadata = z.looseObject({ tree: z.json().optional() });
    const server = await serve({ metadata });
    const tree = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: `{"episodes": [${body}, {"response": "r", "metadata": {"tree": ${tree}}}, ${body}]}`,
    });
    expect(await answer.json()).toEqual({
      rewards: [1, null, 1],
      problems: [expect.stringMatching('^episode 1: metadata: ')],
    });
  });

  it('answers hundreds at once, each with its own', async () => {
    const server = await serve();
    const external = externalReward({ url: server.url, token, concurrency: 200 });
    const { signal } = new AbortController();
    const asked = Array.from({ length: 500 }, (_, length) =>
      external.score({ prompt: '', response: 'x'.repeat(length), metadata: {} }, { signal }),
    );
    expect(await Promise.all(asked)).toEqual(asked.map((_, length) => length));
    expect(external.getStatistics()).toMatchObject({ requests: 500, retries: 0 });
  });
});
