import { once } from 'node:events';
import { connect } from 'node:net';
import { serveHttp } from '@rlp/http';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventStream, type StreamEvent } from './event-stream.ts';
import type { ServeEnv } from './routes.ts';

/** A server of one stream. */
async function streaming(events: () => AsyncGenerator<StreamEvent, void, undefined>, stallMs = 60_000) {
  const app = new Hono<ServeEnv>();
  app.use(async (context, next) => {
    context.set('settings', { maxBodyBytes: 1, stallMs, clock: () => 0 });
    context.set('report', () => undefined);
    await next();
  });
  app.get('/', (context) =>
    eventStream(context, events(), (error) => ({ event: 'error', data: String(error) })),
  );
  const server = await serveHttp({
    handler: (request, exchange) => app.fetch(request as Request, { exchange }),
    closeMs: 100,
  });
  onTestFinished(() => server.close());
  return server;
}

describe('eventStream', () => {
  it('sends text as it is, other data as JSON, and a late error as an event', async () => {
    const { url } = await streaming(async function* () {
      yield { data: { a: 'x\ny' } };
      yield { event: 'named', data: '[DONE]' };
      throw new Error('late');
    });
    const answer = await fetch(url);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await answer.text()).toBe(
      'data: {"a":"x\\ny"}\n\nevent: named\ndata: [DONE]\n\nevent: error\ndata: Error: late\n\n',
    );
  });

  it('makes no more events than a client reads, and drops it when it stops', async () => {
    let made = 0;
    let ended: () => void = () => undefined;
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const { port } = await streaming(async function* () {
      try {
        for (; made < 1000; made++) yield { data: 'x'.repeat(100_000) };
      } finally {
        ended();
      }
    }, 100);
    const socket = connect(port, '127.0.0.1')
      .pause()
      .on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await end;
    expect(made).toBeLessThan(500);
    socket.resume();
    await once(socket, 'close');
  });
});
