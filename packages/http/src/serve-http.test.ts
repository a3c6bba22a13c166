import { once } from 'node:events';
import { connect } from 'node:net';
import { ArgumentError, OptionsError } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Refusal, type ServeHttpOptions, serveHttp } from './index.ts';

const token = 'tttttttttttttttt';

async function serve(options: Partial<ServeHttpOptions> = {}) {
  const server = await serveHttp({ handler: () => new Response('hello'), ...options });
  onTestFinished(() => server.close());
  return server;
}

const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;

/** A raw request, as no client library would make it. Returns the status line. */
async function raw(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(`${lines.join('\r\n')}\r\nconnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer.split('\r\n')[0]!;
}

describe('serveHttp', () => {
  it('listens on loopback, and sends headers that protect pages', async () => {
    const server = await serve();
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([200, 'hello']);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('asks for the token, but for open paths', async () => {
    const { url } = await serve({ token, openPaths: ['/health'] });
    expect(await statusOf(url)).toBe(401);
    expect(await statusOf(url, { headers: { authorization: 'Bearer wrong' } })).toBe(401);
    expect(await statusOf(url, { headers: { authorization: `Bearer ${token}` } })).toBe(200);
    expect(await statusOf(`${url}/?token=${token}`)).toBe(401);
    expect(await statusOf(`${url}/health`)).toBe(200);
    expect(await statusOf(`${url}/health/more`)).toBe(401);
  });

  it('takes the token from x-api-key too, and asks a function about it', async () => {
    const { url } = await serve({ token });
    expect(await statusOf(url, { headers: { 'x-api-key': token } })).toBe(200);
    expect(await statusOf(url, { headers: { 'x-api-key': 'wrong' } })).toBe(401);
    const own = await serve({ token: (given, { pathname }) => `/${given}` === pathname });
    expect(await statusOf(`${own.url}/a`, { headers: { 'x-api-key': 'a' } })).toBe(200);
    expect(await statusOf(`${own.url}/b`, { headers: { 'x-api-key': 'a' } })).toBe(401);
  });

  it('words refusals as it is told', async () => {
    const { url } = await serve({
      token,
      refusalBody: ({ message, status }, request) => ({ message, status, url: request.url }),
    });
    expect(await (await fetch(`${url}/a`)).json()).toMatchObject({ status: 401, url: `${url}/a` });
  });

  it('refuses other hosts, pages of other servers and paths that are none', async () => {
    const { url, port } = await serve();
    const get = (path: string, host: string, ...more: string[]) =>
      raw(port, [`GET ${path} HTTP/1.1`, `host: ${host}`, ...more]);
    expect(await get('/', 'evil.example')).toContain('403');
    expect(await get('/', 'localhost.evil.example')).toContain('403');
    expect(await get('/', 'LOCALHOST:1')).toContain('200');
    expect(await get('/', '[::1]:80')).toContain('200');
    expect(await get('/', 'localhost', 'origin: http://evil.example')).toContain('403');
    expect(await get('/', 'localhost', 'origin: null')).toContain('403');
    expect(await get('/', 'localhost:1', 'origin: http://localhost:1')).toContain('200');
    for (const path of ['//', '//[', 'http://[']) expect(await get(path, '127.0.0.1')).toContain('400');
    expect(await raw(port, ['GET / HTTP/1.1'])).toContain('400');
    expect(await statusOf(url)).toBe(200);
  });

  it('answers on other addresses under the names that it is given, and under addresses', async () => {
    const { port } = await serve({ host: '0.0.0.0', hostNames: ['trainer'] });
    const get = (host: string) => raw(port, ['GET / HTTP/1.1', `host: ${host}`]);
    for (const host of ['Trainer:80', 'localhost', '10.0.0.1:80', '[fe80::1]']) {
      expect(await get(host)).toContain('200');
    }
    expect(await get('evil.example')).toContain('403');
    const open = await serve({ host: '0.0.0.0' });
    expect(await raw(open.port, ['GET / HTTP/1.1', 'host: any.example'])).toContain('200');
    expect(open.url).toBe(`http://127.0.0.1:${open.port}`);
  });

  it("sends what is no Response as JSON, and leaves the platform's classes alone", async () => {
    const platform = [globalThis.Request, globalThis.Response];
    const answers: Record<string, unknown> = {
      '/number': 7,
      '/null': null,
      '/nothing': undefined,
      '/big': 1n,
    };
    const { url } = await serve({ handler: (_, { url: { pathname } }) => answers[pathname] });
    const get = async (path: string) => {
      const answer = await fetch(`${url}${path}`);
      return [answer.status, answer.headers.get('content-type'), await answer.text()];
    };
    expect(await get('/number')).toEqual([200, 'application/json', '7']);
    expect(await get('/null')).toEqual([200, 'application/json', 'null']);
    const failed = [500, 'application/json', '{"error":"the server failed"}'];
    expect(await get('/nothing')).toEqual(failed);
    expect(await get('/big')).toEqual(failed);
    expect([globalThis.Request, globalThis.Response]).toEqual(platform);
  });

  it('answers refusals with their message, and failures without details', async () => {
    const refused: unknown[] = [];
    const { url } = await serve({
      handler: ({ url: address }) => {
        if (address.endsWith('/teapot')) throw new Refusal(418, 'expected coffee');
        throw new Error('the secret of the handler');
      },
      onRefused: (status, error) => refused.push([status, (error as Error).message]),
    });
    const answers = await Promise.all([`${url}/teapot`, url].map(async (at) => (await fetch(at)).json()));
    expect(answers).toEqual([{ error: 'expected coffee' }, { error: 'the server failed' }]);
    expect(refused.toSorted()).toEqual([
      [418, 'expected coffee'],
      [500, 'the secret of the handler'],
    ]);
  });

  it('stops reading a body that is too long', async () => {
    const { url } = await serve({ handler: async (_, { readBody }) => new Response(await readBody(10)) });
    const post = (body: string) => fetch(url, { method: 'POST', body });
    expect(await (await post('0123456789')).text()).toBe('0123456789');
    expect((await post('0123456789a')).status).toBe(413);
    expect((await post('x'.repeat(20_000_000))).status).toBe(413);
  });

  it('tells the handler when the client goes away', async () => {
    const seen: AbortSignal[] = [];
    const { url } = await serve({
      handler: (_, { signal }) => {
        seen.push(signal);
        return new Promise(() => undefined);
      },
      closeMs: 10,
    });
    const controller = new AbortController();
    const request = fetch(url, { signal: controller.signal });
    await expect.poll(() => seen.length).toBe(1);
    controller.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => seen[0]!.aborted).toBe(true);
  });

  it('drops connections over its limit', async () => {
    const { port } = await serve({ maxConnections: 2 });
    const sockets = Array.from({ length: 5 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    const closed = sockets.map((socket) => once(socket.resume(), 'close'));
    await expect.poll(() => sockets.filter((socket) => socket.closed).length).toBe(3);
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  });

  it('closes at once with connections that never asked anything, or asked and are idle', async () => {
    const server = await serve();
    const [silent, half, idle] = Array.from({ length: 3 }, () => connect(server.port, '127.0.0.1'));
    await Promise.all([silent, half, idle].map((socket) => once(socket!, 'connect')));
    half!.write('GET / HTTP/1.1\r\nhost: 127.');
    idle!.write(`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    await once(idle!, 'data');
    const ends = [silent, half, idle].map((socket) => once(socket!.resume(), 'close'));
    const started = performance.now();
    await server.close();
    await Promise.all(ends);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('ends each idle connection once, however many answers end after it began to close', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const asked: (() => void)[] = [];
    const server = await serve({ handler: () => new Promise<void>((resolve) => asked.push(resolve)) });
    const sockets = Array.from({ length: 15 }, () => connect(server.port, '127.0.0.1'));
    const ends = sockets.map((socket) => once(socket.on('error', () => undefined).resume(), 'close'));
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    await expect.poll(() => asked.length).toBe(15);
    const closing = server.close();
    for (const answer of asked) answer();
    await Promise.all([closing, ...ends]);
    expect(warnings).toEqual([]);
  });

  it('closes after open requests, at most after closeMs, and at once with its signal', async () => {
    const asked: ((response: Response) => void)[] = [];
    const handler = () => new Promise<Response>((resolve) => void asked.push(resolve));
    const slow = await serve({ handler });
    const late = fetch(slow.url);
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(1);
    const closing = slow.close();
    asked[0]!(new Response('late'));
    expect(await (await late).text()).toBe('late');
    await closing;
    await expect(fetch(slow.url)).rejects.toThrow();

    const stuck = await serve({ handler, closeMs: 30 });
    const dropped = expect(fetch(stuck.url)).rejects.toThrow();
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(2);
    await stuck.close();
    await dropped;

    const controller = new AbortController();
    const ended = await serve({ handler, signal: controller.signal });
    const cut = expect(fetch(ended.url)).rejects.toThrow();
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(3);
    controller.abort();
    await cut;
  });

  it('refuses bad options and a port that is taken', async () => {
    await expect(serve({ token: 'short', port: -1 })).rejects.toThrow(OptionsError);
    const { port } = await serve();
    await expect(serve({ port })).rejects.toThrow(
      new ArgumentError(`port ${port} of 127.0.0.1 is in use; choose another port, or none for any free one`),
    );
    await expect(serve({ host: '203.0.113.1' })).rejects.toThrow('203.0.113.1 is no address of this machine');
  });
});
