import {
  abortSignal,
  callback,
  onAbort,
  pause,
  RandomStream,
  TimeoutError,
  TrainingError,
  withSignals,
} from '@rlp/core';
import { JsonClient, RequestError, requestSchema, rootAddress } from '@rlp/http/client';
import * as z from 'zod';
import { anySchema, futureSchema, sessionSchema, unfinishedSchema } from './wire.ts';

/** Options of a connection to a Tinker server. */
export const sessionSchemaOptions = requestSchema.extend({
  /** Root of the server, http or https. An `/api/v1` at its end is left out. Required. */
  url: rootAddress,
  /** Sent as `X-API-Key`. SkyRL takes any text that begins with `tml-`. Never logged. Default none. */
  apiKey: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters')
    .optional(),
  /** Milliseconds that one request of a call may take. Results are asked for again as long as `deadlineMs` lasts. Default 60 000. */
  timeoutMs: requestSchema.shape.timeoutMs.unwrap().default(60_000),
  /** Milliseconds that a call may take from its request to its result. Default 1 800 000. */
  deadlineMs: requestSchema.shape.timeoutMs.unwrap().default(1_800_000),
  /** Milliseconds that `close` waits for calls under way and for the server to unload the model. Default 5000. */
  closeMs: requestSchema.shape.timeoutMs.unwrap().default(5000),
  /** Milliseconds between signs of life. Default 10 000. */
  heartbeatMs: requestSchema.shape.timeoutMs.unwrap().default(10_000),
  /** Most times a request is sent. Default 5. */
  attempts: z.int().positive().default(5),
  /** Longest answer in bytes. Default 268 435 456 (256 MiB). */
  maxAnswerBytes: z.int().positive().default(268_435_456),
  /** Ends the start and every later request. Default: only the signal of a call ends it. */
  signal: abortSignal.optional(),
  /** Clock in milliseconds. Default `performance.now`. */
  clock: callback<() => number>().optional(),
});

type SessionOptions = z.output<typeof sessionSchemaOptions>;

/** A call that a server accepted. Wait for its result with {@link TinkerSession.result}. */
export interface Submitted {
  readonly requestId: string;
  readonly submit: () => Promise<string>;
}

/** What users of a Tinker server can change. */
export const tinkerWords = {
  key: 'apiKey',
  less: 'lower `sequencesPerRequest` or `bytesPerRequest`',
  missing: 'check that the server was not restarted, then load the last checkpoint',
};

let sessions = 0;

/** A session on a Tinker server: requests that are sent once, results that are waited for, signs of life. */
export class TinkerSession {
  readonly id: string;
  readonly #client: JsonClient;
  readonly #options: SessionOptions;
  readonly #end: AbortController;
  readonly #heart: ReturnType<typeof setInterval>;
  readonly #name = `rlp-${sessions++}`;
  #requests = 0;

  private constructor(id: string, client: JsonClient, end: AbortController, options: SessionOptions) {
    this.id = id;
    this.#client = client;
    this.#end = end;
    this.#options = options;
    const body = { session_id: id, type: 'session_heartbeat' };
    this.#heart = setInterval(() => {
      // A missed beat is not a failure. The next call finds out what happened.
      client.json('/session_heartbeat', { body, attempts: 1 }).catch(() => undefined);
    }, options.heartbeatMs);
    (this.#heart as { unref?: () => void }).unref?.();
  }

  /** @throws RequestError for a server that is away or refuses the key. */
  static async open(owner: string, options: SessionOptions): Promise<TinkerSession> {
    const { apiKey, headers, url } = options;
    const named = { ...options, headers: { ...headers, ...(apiKey && { 'x-api-key': apiKey }) } };
    const root = `${url.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`;
    const random = () => RandomStream.named('tinker', url);
    const end = new AbortController();
    const { signal } = options;
    const release = signal && onAbort(signal, () => end.abort(signal.reason));
    onAbort(end.signal, () => release?.());
    const client = new JsonClient(owner, { ...named, url: root, signal: end.signal }, random);
    const body = { tags: ['rlp'], sdk_version: '0.6.0', type: 'create_session' };
    const answer = parsed(client, sessionSchema, await client.json('/create_session', { body }));
    if (answer.error_message) {
      throw new RequestError('status', `${client.place}: ${client.quoted(answer.error_message)}`);
    }
    return new TinkerSession(answer.session_id, client, end, options);
  }

  get place(): string {
    return this.#client.place;
  }

  get(path: string, signal?: AbortSignal): Promise<unknown> {
    return this.#client.json(path, { signal });
  }

  /**
   * Sends a call. Attempts carry one idempotency key, so a server that got it twice works on it once.
   *
   * @throws RequestError.
   */
  async submit<Schema extends z.ZodType<{ readonly request_id: string }>>(
    path: string,
    body: object,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema> & Submitted> {
    const headers = { 'x-idempotency-key': `${this.id}-${this.#name}-${this.#requests++}` };
    const send = async () =>
      parsed(this.#client, schema, await this.#client.json(path, { body, headers, signal }));
    const answer = await send();
    return {
      ...answer,
      requestId: answer.request_id,
      submit: async () => (await send()).request_id,
    };
  }

  /**
   * Waits for the result of a call.
   *
   * @throws TrainingError if the call failed on the server. RequestError if it cannot be reached. TimeoutError at the deadline.
   */
  async result<Schema extends z.ZodType>(
    { requestId, submit }: Submitted,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    const { deadlineMs, clock = () => performance.now(), attempts, backoff } = this.#options;
    const end = clock() + deadlineMs;
    let [id, failures, lost, early] = [requestId, 0, 0, 0];
    for (let now = clock(); now < end; now = clock()) {
      const answer = await this.#poll(id, signal);
      if (answer.state === 'ready') return parsed(this.#client, schema, answer.value);
      if (answer.state === 'lost') {
        if (lost++ >= attempts) throw answer.error;
        id = await submit();
        continue;
      }
      if (answer.state === 'away' && ++failures >= attempts) throw answer.error;
      if (answer.state === 'working') failures = 0;
      // Servers that hold the request until there is news set the pace. Others are asked less and less often.
      early = answer.state === 'away' || clock() - now < backoff.longestMs ? early + 1 : 1;
      const least = Math.max(backoff.firstMs * 2 ** (early - 1), answer.error?.retryAfterMs ?? 0);
      const waitMs = Math.min(backoff.longestMs, least, Math.max(0, end - clock()));
      await withSignals([this.#end.signal, signal], (either) => pause(waitMs, either));
    }
    throw new TimeoutError(`${this.place}: no result within ${deadlineMs} ms; raise \`deadlineMs\``);
  }

  async #poll(
    id: string,
    signal: AbortSignal | undefined,
  ): Promise<
    | { readonly state: 'ready'; readonly value: unknown }
    | { readonly state: 'working'; readonly error?: RequestError }
    | { readonly state: 'away' | 'lost'; readonly error: RequestError }
  > {
    const body = { request_id: id, allow_metadata_only: false };
    try {
      const value = await this.#client.json('/retrieve_future', { body, attempts: 1, signal });
      const { type, error } = unfinishedSchema.safeParse(value).data ?? {};
      if (type === 'try_again') return { state: 'working' };
      if (error) {
        throw this.#refused(this.#client.quoted(error).slice(0, 500));
      }
      return { state: 'ready', value };
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { failure, status } = error;
      if (failure === 'timed-out' || status === 408) return { state: 'working', error };
      if (status === 410) return { state: 'lost', error };
      if (error.isPassing || failure === 'malformed') return { state: 'away', error };
      if (status === 400 && error.detail !== undefined) {
        throw this.#refused(error.detail);
      }
      throw error;
    }
  }

  /** A call that the server took and then could not do: to send it again changes nothing. */
  #refused(reason: string): TrainingError {
    return new TrainingError(
      `${this.place}: the server could not do it: ${reason}. Correct what it names, or see the server's log.`,
    );
  }

  /** Sends a call and waits for its result. */
  async call<Schema extends z.ZodType>(
    path: string,
    body: object,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    return this.result(await this.submit(path, body, futureSchema, signal), schema, signal);
  }

  /** Unloads a model, if the server can. */
  async unload(model: string, signal?: AbortSignal): Promise<void> {
    const body = { model_id: model, type: 'unload_model' };
    await this.call('/unload_model', body, anySchema, signal).catch(() => undefined);
  }

  /** Stops the signs of life, and ends what is still asked. */
  close(): void {
    clearInterval(this.#heart);
    this.#end.abort(
      new TrainingError(
        `${this.place}: the session was closed before the server answered; await calls before you close it`,
      ),
    );
  }
}

function parsed<Schema extends z.ZodType>(
  client: JsonClient,
  schema: Schema,
  answer: unknown,
): z.output<Schema> {
  const { data, error } = schema.safeParse(answer);
  if (error === undefined) return data;
  const failure = client.unexpected("an answer of Tinker's protocol", answer);
  if (failure.detail !== undefined) throw failure;
  const [issue] = error.issues;
  throw new RequestError(
    'malformed',
    `${client.place}: expected an answer of Tinker's protocol, got one in which ${issue!.path.join('.') || 'the body'} is wrong`,
  );
}
