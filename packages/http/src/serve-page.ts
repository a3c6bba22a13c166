import { randomBytes } from 'node:crypto';
import { abortSignal, onAbort, requireFields } from '@rlp/core';
import * as z from 'zod';
import type { EventStreams, ServerEvent } from './event-streams.ts';
import type { HttpExchange } from './exchange.ts';
import { Refusal } from './refusal.ts';
import { serveHttp } from './serve-http.ts';

/** Fields of the options of a function that serves a page. */
export const servedPageFields = {
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Address to listen on. Traffic is not encrypted, so others on the network can read it. Default `'127.0.0.1'`. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Token that readers need, at least 16 characters. Default: a random one. */
  token: z.string().min(16).optional(),
  /** Pages that may be open at the same time. Default 16. */
  maximumReaders: z.int().min(1).default(16),
  /** Closes the server. Default: no signal. */
  signal: abortSignal.optional(),
};

const schema = z.strictObject(servedPageFields);

/** The {@link servedPageFields} with their defaults. */
export type ServedPageOptions = z.output<typeof schema>;

/** A page, and what it asks for. */
export interface PageSource {
  /** The page at `/`. It needs no token, so it has nothing secret. Its script with this random text may run. */
  readonly page: (nonce: string) => Promise<HtmlPage> | HtmlPage;
  /** Streams at `/events`. */
  readonly readers: EventStreams;
  /** Events that a new reader gets. Default none. */
  readonly first?: (() => readonly ServerEvent[]) | undefined;
  /** Answers requests for other paths. Default: they are refused. */
  readonly answer?: ((exchange: HttpExchange) => unknown) | undefined;
  /** Whether another path needs no token. Default: all need it. */
  readonly isOpen?: ((path: string) => boolean) | undefined;
  /** `'released'` lets the process end while the page is served. Default `'held'`. */
  readonly process?: 'held' | 'released' | undefined;
  /** Called once, before the server closes. It ends the streams. */
  readonly close: () => void;
}

/** HTML with the content security policy that comes as a header too. */
export interface HtmlPage {
  readonly page: string;
  readonly contentSecurityPolicy?: string | undefined;
}

/** A page that is served. */
export interface ServedPage extends AsyncDisposable {
  /**
   * Address with the token in its fragment, which browsers do not send. The page's script sends it in a header. Anyone who has the
   * address can read the page.
   */
  readonly url: string;
  /** Ends the streams and stops listening. Can be called again. */
  close(): Promise<void>;
}

/** Connections accepted besides those of readers. Clients that open more must not use up the files of the process. */
const spareConnections = 64;

/**
 * Serves a page with a stream of events, on this machine and with a token.
 *
 * @throws the errors of {@link serveHttp}.
 */
export async function servePage(options: ServedPageOptions, source: PageSource): Promise<ServedPage> {
  requireFields('servePage', { port: 'number', host: 'text', maximumReaders: 'number' }, options);
  requireFields('servePage', { page: 'function', readers: 'object', close: 'function' }, source);
  const { port, host, maximumReaders, signal } = options;
  const token = options.token ?? randomBytes(24).toString('base64url');
  const server = await serveHttp({
    ...{ port, host, token, hostNames: [], timeoutMs: 10_000, closeMs: 500 },
    openPaths: (path) => path === '/' || source.isOpen?.(path) === true,
    maxConnections: maximumReaders + spareConnections,
    process: source.process,
    handler: ({ method }, exchange) => {
      if (method !== 'GET') throw new Refusal(405, 'expected GET');
      return answered(source, exchange);
    },
  });
  let release: (() => void) | undefined;
  let closing: Promise<void> | undefined;
  const close = () => {
    if (closing !== undefined) return closing;
    release?.();
    source.close();
    closing = server.close();
    return closing;
  };
  release = signal && onAbort(signal, () => void close());
  const url = `${server.url}/#token=${encodeURIComponent(token)}`;
  return { url, close, [Symbol.asyncDispose]: close };
}

async function answered({ page, readers, first, answer }: PageSource, exchange: HttpExchange) {
  const { pathname } = exchange.url;
  if (pathname === '/') return htmlResponse(await page(randomBytes(16).toString('base64')));
  if (pathname === '/events') return readers.open(exchange, ...(first?.() ?? []));
  if (answer === undefined) throw new Refusal(404, 'there is only one page');
  return answer(exchange);
}

/** Answers with a page. */
export function htmlResponse(inputs: HtmlPage): Response {
  requireFields('htmlResponse', { page: 'text' }, inputs);
  const { page, contentSecurityPolicy } = inputs;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    ...(contentSecurityPolicy !== undefined && { 'content-security-policy': contentSecurityPolicy }),
  };
  return new Response(page, { headers });
}
