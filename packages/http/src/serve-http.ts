import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { onAbort, parseOptions } from '@rlp/core';
import { type Context, Hono } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import * as z from 'zod';
import { carriesToken, isForeignPage, isLoopback, namesLoopback } from './access.ts';
import { readBody } from './read-body.ts';
import { Refusal } from './refusal.ts';

/** What a handler gets besides the request. */
export interface HttpExchange {
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** Reads the body as text. Rejects with a {@link Refusal} 413 if it has more than `maxBytes` bytes. */
  readonly readBody: (maxBytes: number) => Promise<string>;
}

/** Answers a request. Read the body with `readBody`. A thrown {@link Refusal} becomes the answer. */
export type HttpHandler = (
  request: Pick<Request, 'method' | 'url' | 'headers'>,
  exchange: HttpExchange,
) => Response | Promise<Response>;

const schema = z.strictObject({
  /** Answers requests that passed the checks. */
  handler: z.custom<HttpHandler>((value) => typeof value === 'function', 'must be a function'),
  /** Address to listen on. Default `'127.0.0.1'`, this machine only. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Token that requests must carry, at least 16 characters. Default none: any client may ask. */
  token: z.string().min(16).optional(),
  /** Paths that need no token. Default none. */
  openPaths: z.array(z.string()).default([]),
  /** Milliseconds to receive a request. Default 60,000. */
  timeoutMs: z.number().positive().default(60_000),
  /** Milliseconds that `close` waits for open requests. Default 5000. */
  closeMs: z.number().positive().default(5000),
  /** Connections at once; more are dropped. Default no limit. */
  maxConnections: z.int().positive().optional(),
  /** Message of a 500, which hides what the handler threw. Default `'the server failed'`. */
  failureMessage: z.string().min(1).default('the server failed'),
  /** Called with each error that was answered. Secrets are not in it unless a handler put them there. */
  onRefused: z
    .custom<(status: number, error: unknown) => void>(
      (value) => typeof value === 'function',
      'must be a function',
    )
    .default(() => () => undefined),
  /** Closes the server at once and drops open requests. */
  signal: z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal').optional(),
});

/** Options of {@link serveHttp}. */
export interface ServeHttpOptions extends z.input<typeof schema> {}

type Options = z.output<typeof schema>;

/** A running server. */
export interface HttpServer extends AsyncDisposable {
  /** `http://host:port`. */
  readonly url: string;
  readonly port: number;
  /** Takes no new requests, waits for open ones up to `closeMs`, and drops the others. May be called again. */
  close(): Promise<void>;
}

/**
 * Starts a server.
 *
 * On loopback it answers only requests that name this machine as host, so a web page cannot reach it through a name that points here.
 * Requests of pages from other servers get 403, requests without the token 401. A handler that throws gets 500 without details.
 *
 * @throws `OptionsError` naming every problem; rejects if the port is taken.
 */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const parsed = parseOptions('serveHttp', schema, options);
  parsed.signal?.throwIfAborted();
  const { port, host, signal, timeoutMs, maxConnections } = parsed;
  const server = createAdaptorServer({
    fetch: appOf(parsed).fetch,
    hostname: host,
    serverOptions: {
      requestTimeout: timeoutMs,
      headersTimeout: Math.min(10_000, timeoutMs),
      connectionsCheckingInterval: Math.min(5000, timeoutMs),
    },
  }) as Server;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  server.listen(port, host);
  await once(server, 'listening');
  const running = new RunningServer(server, parsed);
  if (signal) onAbort(signal, () => running.end());
  return running;
}

class RunningServer implements HttpServer {
  readonly port: number;
  readonly url: string;
  readonly #server: Server;
  readonly #closeMs: number;
  #closed: Promise<void> | undefined;

  constructor(server: Server, { host, closeMs }: Options) {
    this.#server = server;
    this.#closeMs = closeMs;
    this.port = (server.address() as AddressInfo).port;
    this.url = `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
    server.on('request', (_, response) =>
      response.on('close', () => {
        if (this.#closed) server.closeIdleConnections();
      }),
    );
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeNow();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  end(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #closeNow(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.end(), this.#closeMs);
    await closed;
    clearTimeout(timer);
  }
}

function appOf(options: Options): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use(secureHeaders());
  app.all('*', async (context) => {
    const { raw } = context.req;
    const { incoming, outgoing } = context.env;
    // The platform's own signal and body would cost a full Request object each time.
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const { signal } = gone;
    try {
      admit(context, options);
      return await options.handler(raw, { signal, readBody: (maxBytes) => readBody(incoming, maxBytes) });
    } catch (error) {
      // Nobody reads an answer once the client has gone.
      if (signal.aborted) return new Response(null, { status: 499 });
      const refusal = error instanceof Refusal ? error : new Refusal(500, options.failureMessage);
      options.onRefused(refusal.status, error);
      const isUnread = !incoming.readableEnded;
      const headers = { 'cache-control': 'no-store', ...(isUnread && { connection: 'close' }) };
      return Response.json({ error: refusal.message }, { status: refusal.status, headers });
    }
  });
  return app;
}

/** @throws {@link Refusal} for a request that must not reach the handler. */
function admit(context: Context<{ Bindings: HttpBindings }>, { host, token, openPaths }: Options): void {
  const { raw } = context.req;
  if (!URL.canParse(context.env.incoming.url ?? '/', 'http://localhost'))
    throw new Refusal(400, 'expected a path');
  const url = new URL(raw.url);
  if (openPaths.includes(url.pathname)) return;
  if (isLoopback(host) && !namesLoopback(context.env.incoming.headers.host)) {
    throw new Refusal(403, 'expected this machine as host');
  }
  if (isForeignPage(raw.headers)) throw new Refusal(403, 'expected a page of this server');
  if (token !== undefined && !carriesToken(raw.headers, url, token)) {
    throw new Refusal(401, 'expected the token, as "authorization: Bearer …" or "?token=…"');
  }
}
