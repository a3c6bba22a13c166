import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ArgumentError, messageOf, onAbort, parseOptions, settleWithin, TimeoutError } from '@rlp/core';
import pLimit from 'p-limit';
import type * as z from 'zod';
import { type WireRequest, type WireShape, wireShapes } from '../external/wire-shapes.ts';
import { carriesToken, isLoopback, namesLoopback, Refusal, readBody } from './http.ts';
import { type ServeRewardsOptions, serveOptionsSchema } from './options.ts';
import { type ScoreEpisodes, scorerOf } from './served.ts';

/** What a server did since it started. */
export interface RewardServerStatistics {
  /** Requests that were answered with rewards. */
  readonly answered: number;
  /** Requests that were answered with an error, by status. */
  readonly refused: Readonly<Record<string, number>>;
  /** Episodes scored with a number, and episodes that were unscorable. */
  readonly scored: number;
  readonly unscorable: number;
  /** Requests under way. */
  readonly inFlight: number;
  /** What was wrong the last time. */
  readonly lastFailure: string | undefined;
}

/** A running server of rewards. */
export interface RewardServer extends AsyncDisposable {
  /** `http://host:port`. */
  readonly url: string;
  readonly port: number;
  /** What requests must carry; `undefined` without authentication. */
  readonly token: string | undefined;
  /** Address of a wire shape with the token in it, for clients that take nothing but an address. A secret, then. */
  endpointWithToken(shape: keyof typeof wireShapes): string;
  getStatistics(): RewardServerStatistics;
  /** Takes no new requests, waits for those under way up to `closeMs`, and ends the others. May be called again. */
  close(): Promise<void>;
}

/**
 * Serves rewards over HTTP, so that trainers in any language can use them: `POST /episode` (or `/`) with
 * `{"prompt", "response", "metadata"}` or a list of them, `POST /slime` and `POST /openrlhf` in the shapes of these trainers' remote
 * reward models, `GET /health`.
 *
 * On loopback and with a token unless told otherwise. An episode that cannot be scored is `null` in a 200; a request that is
 * none of the above gets 400, 401, 403, 404, 405, 413 or 415, a reward that fails as a whole 500, and one that takes too long 504.
 *
 * @throws `OptionsError` naming every problem at once; rejects where the port is taken.
 */
export async function serveRewards<Metadata = unknown>(
  options: ServeRewardsOptions<Metadata>,
): Promise<RewardServer> {
  const parsed = parseOptions('serveRewards', serveOptionsSchema, options);
  parsed.signal?.throwIfAborted();
  const score = scorerOf(parsed.rewards, { metadata: parsed.metadata, timeoutMs: parsed.timeoutMs });
  const service = new RewardService(score, parsed);
  await service.listen();
  return service;
}

class RewardService implements RewardServer {
  readonly token: string | undefined;
  readonly #options: z.output<typeof serveOptionsSchema>;
  readonly #score: ScoreEpisodes;
  readonly #server: Server;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #counts = { answered: 0, scored: 0, unscorable: 0, inFlight: 0 };
  readonly #refused: Record<string, number> = {};
  #port = 0;
  #lastFailure: string | undefined;
  #closed: Promise<void> | undefined;

  constructor(score: ScoreEpisodes, options: z.output<typeof serveOptionsSchema>) {
    this.#score = score;
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
    this.token =
      options.authentication === 'none'
        ? undefined
        : (options.token ?? randomBytes(32).toString('base64url'));
    this.#server = createServer(
      {
        requestTimeout: options.timeoutMs,
        headersTimeout: Math.min(10_000, options.timeoutMs),
        connectionsCheckingInterval: Math.min(5000, options.timeoutMs),
      },
      (request, response) => void this.#handle(request, response),
    );
  }

  async listen(): Promise<void> {
    const { port, host, signal } = this.#options;
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    if (signal) onAbort(signal, () => this.#end());
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    const { host } = this.#options;
    return `http://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  endpointWithToken(shape: keyof typeof wireShapes): string {
    return `${this.url}/${shape}${this.token === undefined ? '' : `?token=${this.token}`}`;
  }

  getStatistics(): RewardServerStatistics {
    return { ...this.#counts, refused: { ...this.#refused }, lastFailure: this.#lastFailure };
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeNow();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeNow(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#end(), this.#options.closeMs);
    await closed;
    clearTimeout(timer);
  }

  #end(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#counts.inFlight += 1;
    // Fires when the client goes away: nobody will read the rewards.
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    try {
      const body = await this.#answer(request, gone.signal);
      send(response, 200, body);
    } catch (error) {
      if (response.destroyed) return;
      const refusal = error instanceof Refusal ? error : this.#failure(error);
      this.#refused[refusal.status] = (this.#refused[refusal.status] ?? 0) + 1;
      this.#lastFailure = messageOf(error);
      if (!request.readableEnded) response.shouldKeepAlive = false;
      send(response, refusal.status, { error: refusal.message });
    } finally {
      this.#counts.inFlight -= 1;
      if (this.#closed) this.#server.closeIdleConnections();
    }
  }

  /** What a reward throws may hold anything, so it is counted here and not told there. */
  #failure(error: unknown): Refusal {
    if (error instanceof TimeoutError) return new Refusal(504, `the reward ${error.message}`);
    return new Refusal(500, 'the reward failed');
  }

  async #answer(request: IncomingMessage, gone: AbortSignal): Promise<unknown> {
    const [address, base] = [request.url ?? '/', 'http://localhost'];
    if (!URL.canParse(address, base)) throw new Refusal(400, 'expected a path');
    const url = new URL(address, base);
    if (url.pathname === '/health' && request.method === 'GET') return { status: 'ok' };
    const shape = this.#admit(request, url);
    const asked = readRequest(shape, await readBody(request, this.#options.maxBodyBytes));
    const { rewards, problems } = await this.#limit(() => this.#scoreFor(asked, gone));
    this.#count(rewards, problems);
    const { unscorable } = this.#options;
    const told = rewards.map((reward) => reward ?? (unscorable === 'null' ? null : unscorable));
    return shape.writeAnswer(told, asked.form);
  }

  /** Ends with the client, and then leaves its turn to others even where the reward goes on. */
  #scoreFor({ episodes }: WireRequest, gone: AbortSignal): ReturnType<ScoreEpisodes> {
    gone.throwIfAborted();
    const controller = new AbortController();
    const scores = this.#score(episodes, { signal: controller.signal });
    return settleWithin(scores, controller, { timeoutMs: this.#options.timeoutMs, signal: gone });
  }

  #count(rewards: readonly (number | null)[], problems: readonly string[]): void {
    this.#counts.answered += 1;
    for (const reward of rewards) this.#counts[reward === null ? 'unscorable' : 'scored'] += 1;
    this.#lastFailure = problems.at(-1) ?? this.#lastFailure;
  }

  /** The shape that a request is in. @throws `Refusal`. */
  #admit(request: IncomingMessage, url: URL): WireShape {
    if (isLoopback(this.#options.host) && !namesLoopback(request)) {
      throw new Refusal(403, 'expected this machine as host');
    }
    if (this.token !== undefined && !carriesToken(request, url, this.token)) {
      throw new Refusal(401, 'expected the token, as "authorization: Bearer …" or "?token=…"');
    }
    const name = url.pathname === '/' ? 'episode' : url.pathname.slice(1);
    if (!Object.hasOwn(wireShapes, name)) {
      const known = Object.keys(wireShapes).map((shape) => `/${shape}`);
      throw new Refusal(404, `expected one of ${known.join(', ')}`);
    }
    if (request.method !== 'POST') throw new Refusal(405, 'expected POST');
    // Also keeps web pages out, which may send other types without asking first.
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      throw new Refusal(415, 'expected the content type application/json');
    }
    return wireShapes[name as keyof typeof wireShapes];
  }
}

function readRequest(shape: WireShape, text: string): WireRequest {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Refusal(400, 'expected JSON');
  }
  try {
    return shape.readRequest(body);
  } catch (error) {
    if (error instanceof ArgumentError) throw new Refusal(400, error.message);
    throw error;
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(text);
}
