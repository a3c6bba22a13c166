import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { OptionsError } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EventStreams, type EventStreamsOptions, Refusal, serveHttp } from './index.ts';

/** A server whose every path is an event stream that starts with a greeting. */
async function serve(options: EventStreamsOptions = {}, maxConnections?: number) {
  const events = new EventStreams(options);
  const server = await serveHttp({
    handler: (_, exchange) => events.open(exchange, { event: 'hello', data: 1 }),
    maxConnections,
    closeMs: 50,
  });
  onTestFinished(() => server.close());
  return { events, server };
}

/** A client that asks for the stream and then reads nothing until it is resumed. */
async function deafClient(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  return socket;
}

/** What a client of the stream reads, as it comes. */
async function* texts(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) yield decoder.decode(chunk, { stream: true });
}

const tick = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('EventStreams', () => {
  it('sends to every client, first what is for it alone', async () => {
    const { events, server } = await serve();
    const responses = await Promise.all([fetch(server.url), fetch(server.url)]);
    expect(responses[0]!.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(responses[0]!.headers.get('cache-control')).toBe('no-store');
    await expect.poll(() => events.size).toBe(2);
    events.send({ event: 'two\nlines', data: 'a\nb' });
    events.send({ data: { c: 1 } });
    events.close({ event: 'end', data: {} });
    events.send({ data: 'too late' });
    for (const response of responses) {
      expect(await response.text()).toBe(
        'event: hello\ndata: 1\n\nevent: two lines\ndata: "a\\nb"\n\n' +
          'event: message\ndata: {"c":1}\n\nevent: end\ndata: {}\n\n',
      );
    }
    await expect.poll(() => events.size).toBe(0);
    expect((await fetch(server.url)).status).toBe(503);
  });

  it('keeps an idle stream open with comments', async () => {
    const { server } = await serve({ keepAliveMs: 10 });
    let came = '';
    for await (const text of texts(await fetch(server.url))) {
      came += text;
      if (came.split(': keep-alive').length > 4) break;
    }
    expect(came).toMatch(/^event: hello\ndata: 1\n\n(: keep-alive\n\n){4,}$/);
  });

  it('refuses clients over its limit, and gives the place of one that left to another', async () => {
    const { events, server } = await serve({ maxConnections: 2 });
    const controller = new AbortController();
    await fetch(server.url, { signal: controller.signal });
    const gone = await deafClient(server.port);
    await expect.poll(() => events.size).toBe(2);
    expect((await fetch(server.url)).status).toBe(503);
    controller.abort();
    gone.resetAndDestroy();
    await expect.poll(() => events.size).toBe(0);
    expect((await fetch(server.url, { signal: AbortSignal.timeout(2000) })).status).toBe(200);
  });

  it('drops the oldest events of a slow client, and none of a quick one', async () => {
    const { events, server } = await serve({ maxWaiting: 3 });
    const slow = await deafClient(server.port);
    const quick = texts(await fetch(server.url));
    await expect.poll(() => events.size).toBe(2);
    const filler = 'x'.repeat(500_000);
    let read = (await quick.next()).value!;
    for (let number = 0; number < 30; number++) {
      events.send({ data: `${filler}<${number}>` });
      while (!read.includes(`<${number}>`)) read += (await quick.next()).value;
      read = '';
    }
    let came = '';
    slow.on('data', (data) => {
      came += data;
    });
    slow.resume();
    events.close();
    await once(slow, 'close');
    const numbers = [...came.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number));
    expect(numbers.slice(-3)).toEqual([27, 28, 29]);
    expect(numbers.length).toBeLessThan(30);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it('drops a client that reads nothing, so its place is free', async () => {
    const { events, server } = await serve({ keepAliveMs: 20, maxConnections: 1 });
    const half = await deafClient(server.port);
    await expect.poll(() => events.size).toBe(1);
    // More than the buffers of the system hold.
    for (let sent = 0; sent < 20; sent++) {
      events.send({ data: 'x'.repeat(1_000_000) });
      await tick(1);
    }
    await expect.poll(() => events.size, { timeout: 5000 }).toBe(0);
    expect((await fetch(server.url, { signal: AbortSignal.timeout(2000) })).status).toBe(200);
    half.destroy();
  });

  it('holds against hundreds of clients that come and go', async () => {
    const { events, server } = await serve({ maxConnections: 8, keepAliveMs: 5 }, 64);
    for (let round = 0; round < 3; round++) {
      const sockets = await Promise.all(Array.from({ length: 100 }, () => deafClient(server.port)));
      events.send({ data: round });
      expect(events.size).toBeLessThanOrEqual(8);
      for (const [at, socket] of sockets.entries()) {
        if (at % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
      }
    }
    await expect.poll(() => events.size, { timeout: 5000 }).toBe(0);
    const last = texts(await fetch(server.url));
    expect((await last.next()).value).toContain('event: hello');
  });

  it('ends with its signal, and refuses options and events that it cannot use', async () => {
    const controller = new AbortController();
    const { events, server } = await serve({ signal: controller.signal });
    const response = await fetch(server.url);
    controller.abort();
    expect(await response.text()).toBe('event: hello\ndata: 1\n\n');
    expect(() => new EventStreams({ maxWaiting: 0 })).toThrow(OptionsError);
    expect(() => events.send({ data: 1n })).toThrow(TypeError);
    expect(() => events.open({} as never)).toThrow(Refusal);
  });
});
