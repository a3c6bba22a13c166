import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RandomStream } from '@rlp/core';
import { afterEach, describe, expect, it } from 'vitest';
import { JsonClient, type RequestOptions, requestSchema } from './client.ts';
import { pooledFetch } from './pooled.ts';

const close: (() => void)[] = [];
afterEach(() => {
  for (const one of close.splice(0)) one();
});

async function served(listener: RequestListener) {
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
  };
}

function clientOf(url: string, options: Partial<RequestOptions> = {}) {
  const parsed = requestSchema.parse({ url, attempts: 1, fetch: pooledFetch, ...options });
  return new JsonClient('test', parsed, () => RandomStream.named('client'));
}

/** An answer that has begun and goes on for ever. */
const endless: RequestListener = (_, response) => {
  const timer = setInterval(() => response.write(' '.repeat(65_536)), 1);
  response.on('close', () => clearInterval(timer));
};

describe('pooledFetch', () => {
  it('sends what a client sends and reads the answer, over few connections', async () => {
    const { url, connections } = await served(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      response.end(JSON.stringify({ ...request.headers, method: request.method, url: request.url, body }));
    });
    const client = clientOf(url, { token: 'tml-secret' });
    for (let turn = 0; turn < 20; turn++) {
      const answer = await client.json('/v1/x?n=1', { body: { text: 'ü' } });
      expect(answer).toMatchObject({ method: 'POST', url: '/v1/x?n=1', body: '{"text":"ü"}' });
      expect(answer).toMatchObject({
        authorization: 'Bearer tml-secret',
        'content-type': 'application/json',
      });
    }
    expect(connections()).toBeLessThan(4);
  });

  it.each<[string, RequestListener, string]>([
    ['a redirect', (_, response) => response.writeHead(302, { location: '/y' }).end(), 'redirected'],
    ['a refusal', (_, response) => response.writeHead(404).end('{"detail":"no such model"}'), 'status'],
    ['no answer', () => undefined, 'timed-out'],
    ['an endless answer', endless, 'too-long'],
    ['an answer that is too long', (_, response) => response.end('x'.repeat(2_000_000)), 'too-long'],
    [
      'an end in the middle',
      (_, response) => response.write('{"a"', () => response.destroy()),
      'unreachable',
    ],
    ['an end before the answer', (_, response) => response.destroy(), 'unreachable'],
    ['other text', (_, response) => response.end('<html>'), 'malformed'],
  ])('fails as fetch does: %s', async (_, listener, failure) => {
    const { url } = await served(listener);
    const failures = [pooledFetch, undefined].map((fetch) =>
      clientOf(url, { timeoutMs: 300, fetch })
        .json('/v1/x')
        .catch((error: { failure: string; status?: number }) => error),
    );
    const [pooled, platform] = await Promise.all(failures);
    expect(pooled).toMatchObject({ failure });
    expect(platform).toMatchObject({ failure });
  });

  it('names the reason where nobody listens', async () => {
    const { url } = await served(() => undefined);
    close.splice(0).forEach((one) => {
      one();
    });
    await expect(clientOf(url).json('/v1/x')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('ends with the reason of the signal, before and during a request, and leaves the connection', async () => {
    let left: () => void;
    const leaves = new Promise<void>((resolve) => {
      left = resolve;
    });
    const { url } = await served((_, response) => {
      response.on('close', () => left());
    });
    const controller = new AbortController();
    const asked = clientOf(url).json('/v1/x', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 30);
    await expect(asked).rejects.toThrow('enough');
    await leaves;
    await expect(clientOf(url).json('/v1/x', { signal: controller.signal })).rejects.toThrow('enough');
  });

  it('refuses an address with a password, and does not show it', async () => {
    const { signal } = new AbortController();
    const request = { method: 'GET', headers: {}, redirect: 'manual', signal } as const;
    const refused = pooledFetch!('http://me:hush@127.0.0.1:1', request);
    await expect(refused).rejects.toThrow(/password/);
    await expect(refused).rejects.not.toThrow(/hush/);
  });
});
