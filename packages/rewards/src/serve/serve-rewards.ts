import { randomBytes } from 'node:crypto';
import { ArgumentError, messageOf, parseOptions, plural, settleWithin, TimeoutError } from '@rlp/core';
import { type HttpExchange, type HttpHandler, type HttpServer, Refusal, serveHttp } from '@rlp/http';
import pLimit from 'p-limit';
import type * as z from 'zod';
import { type WireRequest, type WireShape, wireShapes } from '../external/wire-shapes.ts';
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
  /** What requests must carry. `undefined` without authentication. */
  readonly token: string | undefined;
  getStatistics(): RewardServerStatistics;
  /** Takes no new requests, waits for those under way up to `closeMs`, and ends the others. May be called again. */
  close(): Promise<void>;
}

/**
 * Serves rewards over HTTP to trainers in any language. It answers `POST /episode` (or `/`) with
 * `{"prompt", "response", "metadata"}` or a list of them, `POST /slime` and `POST /openrlhf` in the shapes of these trainers' remote
 * reward models, `GET /health`.
 *
 * Listens on loopback and asks for a token by default. An episode that cannot be scored is `null` in a 200, and `problems` says why. What a
 * reward threw is only in `lastFailure` of the statistics. A request that is not one of the above gets 400, 401, 403, 404, 405, 413 or 415. A reward that fails as a whole gives 500, and one that takes too long 504.
 *
 * Reward functions and verifiers score in slices, so that one large request neither keeps others waiting nor outlives `timeoutMs`. A
 * computer gets all episodes of a request at once, as they are its group.
 *
 * @throws OptionsError naming every problem at once. Rejects if the port is taken.
 */
export function serveRewards<Metadata = unknown>(
  options: ServeRewardsOptions<Metadata> & { readonly authentication?: 'token' | undefined },
): Promise<RewardServer & { readonly token: string }>;
export function serveRewards<Metadata = unknown>(
  options: ServeRewardsOptions<Metadata>,
): Promise<RewardServer>;
export async function serveRewards<Metadata>(options: ServeRewardsOptions<Metadata>): Promise<RewardServer> {
  const parsed = parseOptions('serveRewards', serveOptionsSchema, options);
  parsed.signal?.throwIfAborted();
  const score = scorerOf(parsed.rewards, { metadata: parsed.metadata, timeoutMs: parsed.timeoutMs });
  const service = new RewardService(score, parsed);
  await service.listen();
  return service;
}

type AskedRequest = Parameters<HttpHandler>[0];

class RewardService implements RewardServer {
  readonly token: string | undefined;
  readonly #options: z.output<typeof serveOptionsSchema>;
  readonly #score: ScoreEpisodes;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #counts = { answered: 0, scored: 0, unscorable: 0, inFlight: 0 };
  readonly #refused: Record<string, number> = {};
  #server: HttpServer | undefined;
  #lastFailure: string | undefined;

  constructor(score: ScoreEpisodes, options: z.output<typeof serveOptionsSchema>) {
    this.#score = score;
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
    this.token =
      options.authentication === 'none'
        ? undefined
        : (options.token ?? randomBytes(32).toString('base64url'));
  }

  async listen(): Promise<void> {
    const { port, host, signal, timeoutMs, closeMs } = this.#options;
    this.#server = await serveHttp({
      ...{ port, host, signal, timeoutMs, closeMs, token: this.token },
      openPaths: ['/health'],
      failureMessage: 'the reward failed',
      handler: (request, exchange) => this.#handle(request, exchange),
      onRefused: (status, error) => {
        this.#refused[status] = (this.#refused[status] ?? 0) + 1;
        this.#lastFailure = messageOf(error);
      },
    });
  }

  get port(): number {
    return this.#server!.port;
  }

  get url(): string {
    return this.#server!.url;
  }

  getStatistics(): RewardServerStatistics {
    return { ...this.#counts, refused: { ...this.#refused }, lastFailure: this.#lastFailure };
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #handle(request: AskedRequest, exchange: HttpExchange): Promise<unknown> {
    this.#counts.inFlight += 1;
    try {
      return await this.#answer(request, exchange);
    } catch (error) {
      // What a reward throws may hold anything, so the client gets no details.
      if (error instanceof TimeoutError) throw new Refusal(504, `the reward ${error.message}`);
      throw error;
    } finally {
      this.#counts.inFlight -= 1;
    }
  }

  async #answer(request: AskedRequest, exchange: HttpExchange): Promise<unknown> {
    const { url } = exchange;
    if (url.pathname === '/health' && request.method === 'GET') return { status: 'ok' };
    const shape = shapeOf(request, url);
    const asked = readRequest(shape, await exchange.readBody(this.#options.maxBodyBytes));
    const { maxEpisodes } = this.#options;
    if (asked.episodes.length > maxEpisodes) {
      const came = `got ${asked.episodes.length}; split the request or raise maxEpisodes`;
      throw new Refusal(413, `expected at most ${plural(maxEpisodes, 'episode')}, ${came}`);
    }
    const scores = await this.#limit(() => this.#scoreFor(asked, exchange.signal));
    this.#count(scores);
    const { unscorable } = this.#options;
    const told = scores.rewards.map((reward) => reward ?? (unscorable === 'null' ? null : unscorable));
    return shape.writeAnswer(told, asked.form, scores.problems);
  }

  /** Ends with the client, and then leaves its turn to others even where the reward goes on. */
  #scoreFor({ episodes }: WireRequest, gone: AbortSignal): ReturnType<ScoreEpisodes> {
    gone.throwIfAborted();
    const controller = new AbortController();
    const scores = this.#score(episodes, { signal: controller.signal });
    return settleWithin(scores, controller, { timeoutMs: this.#options.timeoutMs, signal: gone });
  }

  #count({ rewards, lastFailure }: Awaited<ReturnType<ScoreEpisodes>>): void {
    this.#counts.answered += 1;
    for (const reward of rewards) this.#counts[reward === null ? 'unscorable' : 'scored'] += 1;
    this.#lastFailure = lastFailure ?? this.#lastFailure;
  }
}

/** The shape that a request is in. @throws Refusal. */
function shapeOf(request: AskedRequest, url: URL): WireShape {
  const name = url.pathname === '/' ? 'episode' : url.pathname.slice(1);
  if (!Object.hasOwn(wireShapes, name)) {
    const known = Object.keys(wireShapes).map((shape) => `/${shape}`);
    throw new Refusal(404, `expected one of ${known.join(', ')}`);
  }
  if (request.method !== 'POST') throw new Refusal(405, 'expected POST');
  // Also keeps web pages out, which may send other types without asking first.
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    throw new Refusal(415, 'expected the content type application/json');
  }
  return wireShapes[name as keyof typeof wireShapes];
}

function readRequest(shape: WireShape, text: string): WireRequest {
  try {
    return shape.readRequest(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal(400, 'expected JSON');
    if (error instanceof ArgumentError) throw new Refusal(400, error.message);
    throw error;
  }
}
