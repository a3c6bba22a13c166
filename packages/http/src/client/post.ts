import { ArgumentError, requireFields, settleWithin, TimeoutError } from '@rlp/core';
import type * as z from 'zod';
import type { Fetch, FetchResponse, HttpMethod } from './fetch.ts';
import { RequestError } from './request-error.ts';
import type { requestSchema } from './request-options.ts';

/** Where and how requests are sent. */
export interface Endpoint {
  readonly url: string;
  /** The address without what may be a secret. */
  readonly place: string;
  readonly fetch: Fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
}

/**
 * Where and how the options say.
 *
 * @throws ArgumentError on a platform without fetch.
 */
export function endpointOf(owner: string, options: z.output<typeof requestSchema>): Endpoint {
  requireFields(owner, { url: 'text', timeoutMs: 'number', headers: 'object' }, options);
  const { url, token, timeoutMs, maxAnswerBytes } = options;
  const fetch = options.fetch ?? (globalThis as { readonly fetch?: Fetch }).fetch;
  if (fetch === undefined) throw new ArgumentError(`${owner}: this platform lacks fetch; pass one`);
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { ...options.headers, 'content-type': 'application/json', ...authorization };
  return { url, place: shownUrl(url), fetch, headers, timeoutMs, maxAnswerBytes };
}

/** One request. */
export interface JsonRequest {
  readonly method: HttpMethod;
  /** JSON. Default none. */
  readonly body?: string | undefined;
  /** Status of an answer. Default: 200 only. */
  readonly accepts?: 'ok' | 'any success' | undefined;
}

/**
 * Sends JSON and reads the JSON that answers it, once, within the time of the endpoint.
 *
 * @throws RequestError; once `signal` aborts, its reason.
 */
export async function postJson(endpoint: Endpoint, body: string, signal: AbortSignal): Promise<unknown> {
  return parsed(endpoint, await requestText(endpoint, { method: 'POST', body }, signal));
}

/**
 * Sends a request and reads the text that answers it, once, within the time of the endpoint.
 *
 * @throws RequestError; once `signal` aborts, its reason.
 */
export async function requestText(
  endpoint: Endpoint,
  request: JsonRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  requireFields(
    'requestText',
    { url: 'text', place: 'text', timeoutMs: 'number', fetch: 'function', headers: 'object' },
    endpoint,
  );
  const controller = new AbortController();
  const limits = { timeoutMs: endpoint.timeoutMs, signal };
  try {
    return await settleWithin(exchange(endpoint, request, controller.signal), controller, limits);
  } catch (error) {
    // Nothing of the exchange goes on.
    controller.abort();
    if (error instanceof RequestError || error instanceof ArgumentError) throw error;
    signal?.throwIfAborted();
    const { place } = endpoint;
    if (error instanceof TimeoutError) {
      throw new RequestError('timed-out', `${place}: no answer within ${endpoint.timeoutMs} ms`);
    }
    const distrust = distrustOf(error);
    if (distrust !== undefined) throw new RequestError('untrusted', `${place}: ${distrust}`);
    throw new RequestError('unreachable', `${place}: ${withoutSecrets(reasonOf(error), endpoint)}`);
  }
}

async function exchange(
  endpoint: Endpoint,
  { method, body, accepts = 'ok' }: JsonRequest,
  signal: AbortSignal,
): Promise<string> {
  const { url, place, fetch, headers, maxAnswerBytes } = endpoint;
  const sent = { method, headers, redirect: 'manual', signal } as const;
  const response = await fetch(url, body === undefined ? sent : { ...sent, body });
  const { status } = response;
  if (status === 0 || (status >= 300 && status < 400)) {
    throw new RequestError(
      'redirected',
      `${place}: expected an answer, got a redirect; it is not followed, so that no token goes elsewhere: set the url to where it leads`,
      { status },
    );
  }
  if (status !== 200 && (accepts === 'ok' || status > 299)) {
    const retryAfterMs = retryAfter(response);
    const detail = detailOf(await readText(response, 65_536).catch(() => undefined), endpoint);
    throw new RequestError('status', `${place}: expected status 200, got ${status}`, {
      ...{ status, retryAfterMs, detail },
    });
  }
  const text = await readText(response, maxAnswerBytes);
  if (text !== undefined) return text;
  throw new RequestError('too-long', `${place}: expected at most ${maxAnswerBytes} bytes, got more`);
}

/**
 * The JSON in a text.
 *
 * @throws RequestError for other text.
 */
export function parsed({ place }: Pick<Endpoint, 'place'>, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestError(
      'malformed',
      `${place}: expected JSON, got ${text.length} characters of something else`,
    );
  }
}

/** The reason in the body of a refusal, in one of the forms that servers use. */
function detailOf(text: string | undefined, endpoint: Endpoint): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  return shortened(reasonInText(text), endpoint);
}

/** The error for an answer other than what was expected. It holds the reason that the answer gives, if it reports a failure. */
export function unexpectedAnswer(endpoint: Endpoint, expected: string, answer: unknown): RequestError {
  const reason = reasonIn(answer);
  const start = `${endpoint.place}: expected ${expected}, got`;
  if (typeof reason !== 'string' || reason === '') {
    return new RequestError('malformed', `${start} another body`);
  }
  const detail = shortened(reason, endpoint);
  return new RequestError('malformed', `${start} a failure`, { detail, remedy: 'see the log of the server' });
}

function shortened(reason: string, endpoint: Endpoint): string {
  const said = withoutSecrets(reason, endpoint).replace(/\s+/g, ' ').trim();
  return said.length > 300 ? `${said.slice(0, 300)}…` : said;
}

function reasonIn(answer: unknown): unknown {
  const body = answer as Record<string, unknown> | null;
  const error = body?.error as Record<string, unknown> | string | undefined;
  return (typeof error === 'object' ? error?.message : error) ?? body?.message ?? body?.detail;
}

function reasonInText(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    const reason = reasonIn(body);
    return typeof reason === 'string' ? reason : JSON.stringify(reason ?? body);
  } catch {
    return text;
  }
}

/** The body as text; `undefined` if it is longer than `limit` bytes. */
async function readText(response: FetchResponse, limit: number): Promise<string | undefined> {
  if (response.body === undefined || response.body === null || saysShorter(response, limit)) {
    const text = await response.text();
    return text.length > limit ? undefined : text;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value?.length ?? 0;
    if (bytes > limit) {
      void reader.cancel().catch(() => undefined);
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Whether its headers say that the body has at most `limit` bytes; such a body is read at once, which is faster. */
function saysShorter({ headers }: FetchResponse, limit: number): boolean {
  const length = headers.get('content-length');
  return length !== null && Number(length) <= limit && headers.get('content-encoding') === null;
}

/** Certificates that fetch refuses, and what to do. */
const distrusts: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it on the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name; use that name in the url',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; begin the url with http:// if that is meant',
};

/** Why a connection is not trusted. `undefined` for other errors. */
function distrustOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (distrusts[code] !== undefined) return distrusts[code];
  if (!/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_(UNTRUSTED|SIGNATURE|REVOKED)/.test(code))
    return undefined;
  return `its certificate is not trusted (${code}); name the certificate of its authority in the variable NODE_EXTRA_CA_CERTS when you start Node.js`;
}

/** What `retry-after-ms` or `retry-after` (in seconds, or a date) say. */
function retryAfter({ headers }: FetchResponse): number | undefined {
  const milliseconds = headers.get('retry-after-ms');
  const seconds = headers.get('retry-after');
  if (milliseconds !== null) return waitOf(Number(milliseconds));
  if (seconds === null) return undefined;
  if (Number.isFinite(Number(seconds))) return waitOf(1000 * Number(seconds));
  // The server's own clock says how far away its date is.
  const now = Date.parse(headers.get('date') ?? '');
  return waitOf(Date.parse(seconds) - now);
}

function waitOf(milliseconds: number): number | undefined {
  return Number.isFinite(milliseconds) && milliseconds >= 0 ? milliseconds : undefined;
}

/** An address without user, password and query, which may be secrets. */
function shownUrl(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1');
}

/** The message of an error, and what caused it: fetch keeps the reason there. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // Where an address has several numbers and none answers, there is a code and no message.
  if (!(cause instanceof Error)) return error.message || ('code' in error ? String(error.code) : error.name);
  return `${error.message} (${'code' in cause ? String(cause.code) : cause.message})`;
}

/** A message without anything that the headers or the address hold, also as JSON writes it. */
export function withoutSecrets(
  message: string,
  { headers, url, place }: Pick<Endpoint, 'headers' | 'url' | 'place'>,
): string {
  const values = Object.values(headers).flatMap((value) => [value, value.replace(/^[\w-]+ +/, '')]);
  const secrets = values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
  return secrets
    .filter((secret) => secret.length > 3)
    .reduce((text, secret) => text.replaceAll(secret, '[hidden]'), message)
    .replaceAll(url, place);
}
