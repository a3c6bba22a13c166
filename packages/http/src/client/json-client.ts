import { type RandomStream, requireFields, retried, withSignals } from '@rlp/core';
import type * as z from 'zod';
import type { HttpMethod } from './fetch.ts';
import { type Endpoint, endpointOf, parsed, requestText, unexpectedAnswer, withoutSecrets } from './post.ts';
import { repeated } from './repeated.ts';
import { RequestError } from './request-error.ts';
import type { requestSchema } from './request-options.ts';

/** How one request of a {@link JsonClient} differs from the others. */
export interface ClientRequest {
  /** Default `'POST'` if there is a body, else `'GET'`. */
  readonly method?: HttpMethod | undefined;
  /** Sent as JSON. Default none. */
  readonly body?: unknown;
  /** Headers besides those of the client. Default none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds that one attempt may take. Default: the client's. */
  readonly timeoutMs?: number | undefined;
  /** Attempts. Default: the client's. */
  readonly attempts?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of a {@link JsonClient}. */
interface ClientOptions extends z.output<typeof requestSchema> {
  /** Ends every request. Default: only its own signal does. */
  readonly signal?: AbortSignal | undefined;
}

/** Asks one server for JSON at several paths. Retries while the server is away, slow, busy or broken. */
export class JsonClient {
  /** The address without what may be a secret. */
  readonly place: string;
  readonly #endpoint: Endpoint;
  readonly #options: ClientOptions;
  readonly #random: () => RandomStream;

  /**
   * @param owner - Begins errors.
   * @param random - Draws the waits between attempts.
   * @throws ArgumentError on a platform without fetch.
   */
  constructor(owner: string, options: ClientOptions, random: () => RandomStream) {
    requireFields(owner, { url: 'text', timeoutMs: 'number' }, options);
    const url = options.url.replace(/\/+$/, '');
    this.#endpoint = endpointOf(owner, { ...options, url });
    this.place = this.#endpoint.place;
    this.#options = options;
    this.#random = random;
  }

  /**
   * The JSON at a path.
   *
   * @throws RequestError; once the signal aborts, its reason.
   */
  async json(path: string, request: ClientRequest = {}): Promise<unknown> {
    const endpoint = this.#at(path, request);
    return this.#repeated(request, async (open) => parsed(endpoint, await this.#text(endpoint, open)));
  }

  /**
   * The text at a path, for servers that answer a command with a sentence or with nothing.
   *
   * @throws RequestError; once the signal aborts, its reason.
   */
  async text(path: string, request: ClientRequest = {}): Promise<string> {
    const endpoint = this.#at(path, request);
    return this.#repeated(request, (open) => this.#text(endpoint, open));
  }

  /** A text of the server without what the headers hold, for errors. */
  quoted(text: string): string {
    return withoutSecrets(text, this.#endpoint);
  }

  /** The error for an answer other than what was expected. It holds the reason that the answer gives, if it reports a failure. */
  unexpected(expected: string, answer: unknown): RequestError {
    return unexpectedAnswer(this.#endpoint, expected, answer);
  }

  /** Does several requests again, together, as this client does one. `again` adds errors to repeat after, by the least wait. */
  repeated<Value>(
    work: () => Promise<Value>,
    signal: AbortSignal | undefined,
    again: (error: unknown) => number | undefined = () => undefined,
  ): Promise<Value> {
    const { attempts, backoff } = this.#options;
    const waitAfter = (error: unknown) =>
      error instanceof RequestError && error.isPassing ? (error.retryAfterMs ?? 0) : again(error);
    return this.#open(signal, (open) =>
      retried(work, { attempts, backoff, random: this.#random, waitAfter, signal: open }),
    );
  }

  /** Does work until the signal or that of the client aborts. */
  #open<Value>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal | undefined) => Promise<Value>,
  ): Promise<Value> {
    const { signal: whole } = this.#options;
    return whole === undefined ? work(signal) : withSignals([whole, signal], work);
  }

  #repeated<Value>(request: ClientRequest, send: (open: ClientRequest) => Promise<Value>): Promise<Value> {
    const { backoff, attempts } = this.#options;
    return this.#open(request.signal, (signal) =>
      repeated(() => send({ ...request, signal }), {
        ...{ attempts: request.attempts ?? attempts, backoff, random: this.#random, signal },
      }),
    );
  }

  #text(endpoint: Endpoint, { method, body, signal }: ClientRequest): Promise<string> {
    signal?.throwIfAborted();
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const verb = method ?? (sent === undefined ? 'GET' : 'POST');
    return requestText(endpoint, { method: verb, body: sent, accepts: 'any success' }, signal);
  }

  #at(path: string, { headers, timeoutMs }: ClientRequest): Endpoint {
    const endpoint = this.#endpoint;
    return {
      ...endpoint,
      url: `${endpoint.url}${path}`,
      place: `${endpoint.place}${path.replace(/\?.*$/s, '')}`,
      headers: { ...endpoint.headers, ...headers },
      timeoutMs: timeoutMs ?? endpoint.timeoutMs,
    };
  }
}
