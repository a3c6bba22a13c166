import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { ArgumentError, abortSignal, callback, onAbort, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { accessCheck, type TokenCheck } from './access.ts';
import { type HttpExchange, NodeExchange, sendJson } from './exchange.ts';
import { Refusal } from './refusal.ts';

/**
 * Answers a request. The result is sent as JSON, unless it is a `Response`. A thrown {@link Refusal} becomes
 * the answer.
 */
export type HttpHandler = (
  request: Pick<Request, 'method' | 'url' | 'headers'>,
  exchange: HttpExchange,
) => unknown;

const schema = z.strictObject({
  /** Answers requests that passed the checks. Required. */
  handler: callback<HttpHandler>(),
  /** Address to listen on. Default `'127.0.0.1'`, this machine only. */
  host: z.string().min(1).default('127.0.0.1'),
  /**
   * Additional host names under which clients reach a server that does not listen on loopback. Default: any
   * name.
   *
   * IP addresses and `host` are always accepted.
   */
  hostNames: z.array(z.string()).optional(),
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /**
   * Token that requests must carry, at least 16 characters, or a function that checks the token of a request. Default:
   * none, so every client has access.
   */
  token: z.union([z.string().min(16), callback<TokenCheck>('text or a function')]).optional(),
  /** Paths that need no token, or a function that says whether a path needs none. Default none. */
  openPaths: z
    .union([z.array(z.string()), callback<(path: string) => boolean>('paths or a function')])
    .default([]),
  /** Milliseconds to receive a request. Default 60,000. */
  timeoutMs: z.number().positive().default(60_000),
  /** Milliseconds that `close` waits for open requests. Default 5000. */
  closeMs: z.number().positive().default(5000),
  /** Maximum number of open connections. More are dropped. Default: no limit. */
  maxConnections: z.int().positive().optional(),
  /** `'released'` lets the process end while the server listens. Default `'held'`. */
  process: z.enum(['held', 'released']).default('held'),
  /** Body of an answer to a request that is refused. Default: the message as `{ error }`. */
  refusalBody: callback<(refusal: Refusal, request: Pick<Request, 'url' | 'headers'>) => unknown>().default(
    () =>
      ({ message }: Refusal) => ({ error: message }),
  ),
  /** Message of an answer with status 500. It hides the handler's error. Default `'the server failed'`. */
  failureMessage: z.string().min(1).default('the server failed'),
  /**
   * Called with each error that was answered. It holds no secrets unless a handler adds them. Default: errors
   * are dropped.
   */
  onRefused: callback<(status: number, error: unknown) => void>().default(() => () => undefined),
  /** Closes the server at once and drops open requests. Default: no signal. */
  signal: abortSignal.optional(),
});

/** Options of {@link serveHttp}. */
export interface ServeHttpOptions extends z.input<typeof schema> {}

type Options = z.output<typeof schema>;

/** A running server. */
export interface HttpServer extends AsyncDisposable {
  /** `http://host:port`. For a server on every address it is that of this machine. */
  readonly url: string;
  readonly port: number;
  /** Refuses new requests, waits for open ones up to `closeMs`, and drops the rest. Can be called again. */
  close(): Promise<void>;
}

/**
 * Starts a server.
 *
 * On loopback, it answers only requests whose `host` header names this machine. This prevents DNS rebinding.
 * Requests of web pages from other servers get 403. Requests without the token get 401. A handler that throws
 * gets 500 without details.
 *
 * @throws OptionsError naming every problem. Rejects if the port is taken.
 */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const parsed = parseOptions('serveHttp', schema, options);
  parsed.signal?.throwIfAborted();
  const answer = answererOf(parsed);
  const server = createAdaptorServer({
    fetch: (request, bindings) => answer(request, bindings as HttpBindings),
    hostname: parsed.host,
    overrideGlobalObjects: false,
    serverOptions: {
      requestTimeout: parsed.timeoutMs,
      headersTimeout: Math.min(10_000, parsed.timeoutMs),
      connectionsCheckingInterval: Math.min(5000, parsed.timeoutMs),
      keepAlive: true,
    },
  }) as Server;
  if (parsed.maxConnections !== undefined) server.maxConnections = parsed.maxConnections;
  if (parsed.process === 'released') server.unref().on('connection', (socket) => socket.unref());
  server.listen(parsed.port, parsed.host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw unlistened(error, parsed);
  });
  // A connection that the system cannot accept must not end the process.
  server.on('error', (error) => parsed.onRefused(503, error));
  const running = new RunningServer(server, parsed);
  if (parsed.signal) onAbort(parsed.signal, () => running.end());
  return running;
}

/** What keeps a server from listening, with a remedy for the usual mistakes. */
function unlistened(cause: NodeJS.ErrnoException, { host, port }: Options): Error {
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${host} is in use; choose another port, or none for any free one`,
    EACCES: `port ${port} of ${host} may not be opened by this user; choose one above 1023`,
    EADDRNOTAVAIL: `${host} is no address of this machine; use 127.0.0.1, or 0.0.0.0 for all of them`,
    ENOTFOUND: `the host ${host} is not known; use 127.0.0.1, or 0.0.0.0 for all addresses of this machine`,
  };
  const problem = problems[cause.code ?? ''];
  return problem === undefined ? cause : new ArgumentError(problem, { cause });
}

/** Where this machine reaches a server that listens on every address. */
const loopback: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

class RunningServer implements HttpServer {
  readonly port: number;
  readonly url: string;
  readonly #server: Server;
  readonly #closeMs: number;
  /** Requests under way, by connection. Node's `closeIdleConnections` leaves out those that never asked anything. */
  readonly #requests = new Map<Socket, number>();
  #closed: Promise<void> | undefined;

  constructor(server: Server, { host, closeMs }: Options) {
    this.#server = server;
    this.#closeMs = closeMs;
    this.port = (server.address() as AddressInfo).port;
    const reached = loopback.get(host) ?? host;
    this.url = `http://${reached.includes(':') ? `[${reached}]` : reached}:${this.port}`;
    server.on('connection', (socket) => {
      this.#requests.set(socket, 0);
      socket.once('close', () => this.#requests.delete(socket));
    });
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1);
      response.once('close', () => {
        this.#count(socket, -1);
        if (this.#closed) this.#closeIdle();
      });
    });
  }

  #count(socket: Socket, change: 1 | -1): void {
    const requests = this.#requests.get(socket);
    if (requests !== undefined) this.#requests.set(socket, requests + change);
  }

  #closeIdle(): void {
    for (const [socket, requests] of this.#requests) {
      if (requests > 0) continue;
      // Once: each call listens until what was written has been sent.
      this.#requests.delete(socket);
      socket.destroySoon();
    }
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
    this.#closeIdle();
    const timer = setTimeout(() => this.end(), this.#closeMs);
    await closed;
    clearTimeout(timer);
  }
}

function answererOf(options: Options): (request: Request, bindings: HttpBindings) => Promise<Response> {
  const { handler, failureMessage, refusalBody, onRefused } = options;
  const check = accessCheck(options);
  return async (request, { incoming, outgoing }) => {
    for (const [name, value] of fixedHeaders) outgoing.setHeader(name, value);
    try {
      const exchange = new NodeExchange(request.url, incoming, outgoing);
      check(request, exchange.url);
      const answer = await handler(request, exchange);
      return answer instanceof Response ? answer : sendJson(outgoing, 200, answer);
    } catch (error) {
      // Nobody reads the answer after the client has disconnected.
      if (outgoing.destroyed) return RESPONSE_ALREADY_SENT;
      const refusal = error instanceof Refusal ? error : new Refusal(500, failureMessage);
      onRefused(refusal.status, error);
      if (!incoming.readableEnded) outgoing.setHeader('connection', 'close');
      return sendJson(outgoing, refusal.status, refusalBody(refusal, request));
    }
  };
}

/** Sent with every answer. Headers of a handler's answer replace them. */
const fixedHeaders = [
  ['cache-control', 'no-store'],
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['x-frame-options', 'DENY'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
] as const;
