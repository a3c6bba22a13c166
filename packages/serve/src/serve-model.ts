import { randomBytes } from 'node:crypto';
import { abortSignal, callback, parseOptions, timerMs } from '@rlp/core';
import { serveHttp } from '@rlp/http';
import * as z from 'zod';
import { Admission } from './admission.ts';
import { Answerer } from './answer/answerer.ts';
import { type AnswerObserver, bothObservers } from './answer/observer.ts';
import { apiErrorOf, isHidden } from './api-error.ts';
import { errorBody } from './error-shapes.ts';
import { ServeMetrics } from './metrics.ts';
import { serveApp } from './serve-app.ts';
import type { ServedPolicy } from './served-policy.ts';
import { ServedWeights } from './weights/served-weights.ts';

const object = <Type>(description: string, member: string) =>
  z.custom<Type>((value) => value !== null && typeof value === 'object' && member in value, {
    message: `must be ${description}`,
  });

/** Clients are told to see the log of the server. */
function logHidden(error: unknown, status: number): void {
  if (isHidden(error)) console.error(`serveModel: a request got status ${status}`, error);
}

const schema = z.strictObject({
  /** Policy that answers, such as the result of `createOnnxSampler`. It stays open when the server closes. Required. */
  policy: object<ServedPolicy>('a policy with a tokenizer', 'tokenizer'),
  /** Name of the model in requests. Required. */
  name: z.string().min(1),
  /** Folder that the model was loaded from. Needed to go back from an adapter to the model. Default none. */
  folder: z.string().optional(),
  /** Folders of adapters by the names of requests for them. Default none. */
  adapters: z.record(z.string().min(1), z.string().min(1)).default({}),
  /** Whether a request for a model that is not here is refused, or answered by the model. Default `'refuse'`. */
  otherNames: z.enum(['refuse', 'serve']).default('refuse'),
  /** Address to listen on. Default `'127.0.0.1'`, this machine only. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Names under which clients reach a server that does not listen on loopback. Default: any name. */
  hostNames: z.array(z.string()).optional(),
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Token that requests must carry, at least 16 characters. Default: a random one. */
  token: z.string().min(16).optional(),
  /** Maximum bytes of a request. Default 16,777,216. */
  maxBodyBytes: z.int().positive().default(16_777_216),
  /** Maximum requests that are answered at once. Default 64. */
  maxRequests: z.int().positive().default(64),
  /** Maximum requests that wait. More get 429. Default 256. */
  maxWaiting: z.int().nonnegative().default(256),
  /** Maximum open connections. More are dropped. Default 1024. */
  maxConnections: z.int().positive().default(1024),
  /** Milliseconds that a request may wait for its turn, and that its answer may take. Default 600,000. */
  timeoutMs: timerMs.default(600_000),
  /** Milliseconds that a client may leave an event of a stream unread. Default 60,000. */
  stallMs: z.number().positive().default(60_000),
  /** Milliseconds that `close` waits for requests under way. Default 30,000. */
  closeMs: z.number().positive().default(30_000),
  /** Names the random draws of requests without a seed. Default `'serve'`. */
  seed: z.string().default('serve'),
  /** Told of each request, its tokens and its answer. Default nobody. */
  observer: z.custom<AnswerObserver>((value) => value !== null && typeof value === 'object').optional(),
  /** Called with each error that was answered. Default: errors that the answer does not show are written with `console.error`. */
  onError: callback<(error: unknown, status: number) => void>().default(() => logHidden),
  /** Milliseconds since 1970. Default the clock of this machine. */
  clock: callback<() => number>().default(() => Date.now),
  /** Closes the server at once. Default: no signal. */
  signal: abortSignal.optional(),
});

/** Options of {@link serveModel}. */
export interface ServeModelOptions extends z.input<typeof schema> {}

/** A model that is served. */
export interface ModelServer extends AsyncDisposable {
  /** `http://host:port`. Clients of OpenAI add `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Token that requests must carry. */
  readonly token: string;
  /** Refuses new requests, waits for those under way up to `closeMs`, and drops the rest. Can be called again. */
  close(): Promise<void>;
}

/**
 * Serves a policy over the routes that OpenAI's and other clients use.
 *
 * It listens on this machine only and asks for a token, unless you say otherwise.
 *
 * @throws OptionsError naming every problem. Rejects if the port is taken.
 */
export async function serveModel(options: ServeModelOptions): Promise<ModelServer> {
  const parsed = parseOptions('serveModel', schema, options);
  const { policy, name, folder, otherNames, maxRequests, maxWaiting, timeoutMs, seed, observer } = parsed;
  // Tinker's clients take no other keys.
  const token = parsed.token ?? `tml-${randomBytes(24).toString('hex')}`;
  const admission = new Admission({ maxRequests, maxWaiting });
  const metrics = new ServeMetrics(admission, policy);
  const weights = new ServedWeights({ policy, name, folder, otherNames });
  const answerer = new Answerer({
    ...{ policy, weights, admission, timeoutMs },
    observer: observer ? bothObservers(metrics, observer) : metrics,
    seedOf: (index) => `${seed}/${index}`,
  });
  for (const [adapter, path] of Object.entries(parsed.adapters)) await weights.loadAdapter(adapter, path);
  const { maxBodyBytes, stallMs, clock, onError } = parsed;
  const settings = { maxBodyBytes, stallMs, clock };
  const told = (error: unknown, status: number) => onError(error, status);
  const app = serveApp({ answerer, settings, metrics, onError: told });
  const { host, hostNames, port, maxConnections, closeMs, signal } = parsed;
  const server = await serveHttp({
    ...{ host, port, token, maxConnections, closeMs, timeoutMs: 60_000 },
    ...(hostNames && { hostNames }),
    ...(signal && { signal }),
    handler: (request, exchange) => app.fetch(request as Request, { exchange }),
    openPaths: ['/health'],
    refusalBody: (refusal, { url }) => errorBody(apiErrorOf(refusal), new URL(url).pathname),
    onRefused: (status, error) => told(error, status),
  });
  const close = () => server.close();
  return { url: server.url, port: server.port, token, close, [Symbol.asyncDispose]: close };
}
