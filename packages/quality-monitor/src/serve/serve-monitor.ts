import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { type MetricsLogger, onAbort, parseOptions } from '@rlp/core';
import { contentSecurityPolicy, type Html, html, renderPage } from '@rlp/page';
import * as z from 'zod';
import type { MonitorLogs } from '../files/read-logs.ts';
import { monitorPageBody } from '../report/monitor-page.ts';
import { EventStream } from './event-stream.ts';
import { pageScript } from './page-script.ts';
import { RecentLogs } from './recent-logs.ts';

const schema = z.strictObject({
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Address to listen on. Traffic is not encrypted, so others on the network can read it. Default `'127.0.0.1'`. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Token that the page's address must carry, at least 16 characters. Default: a random one. */
  token: z.string().min(16).optional(),
  /** Title of the page. Default `'Reward quality, live'`. */
  title: z.string().min(1).default('Reward quality, live'),
  /** Least milliseconds between two updates. Default 1000. */
  refreshMs: z.int().min(20).default(1000),
  /** Pages that may be open at the same time. Default 16. */
  maximumReaders: z.int().min(1).default(16),
  /** Clock in milliseconds, to time the rendering. Default `performance.now`. */
  clock: z
    .custom<() => number>((value) => typeof value === 'function', 'must be a function')
    .default(() => () => performance.now()),
  /** Closes the server. */
  signal: z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal').optional(),
});

/** Options of {@link serveMonitor}. */
export interface LiveMonitorOptions extends z.input<typeof schema> {}

/** The live page of a run. */
export interface LiveMonitor {
  /** Address with the token. Whoever has it can see the run. */
  readonly url: string;
  /** Pass it to a monitor: `new RewardQualityMonitor({ loggers: [live.logger] })`. */
  readonly logger: MetricsLogger;
  /** Tells readers that the run is over, and stops listening. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serves the monitor's page on this machine and updates it by server-sent events.
 *
 * Training never waits for the page. Memory is bounded. The page is rendered only while someone reads it, at most once in
 * `refreshMs` and for a twentieth of the time. A slow reader gets the newest state once it has caught up.
 *
 * @throws OptionsError for bad options, the system's error if it cannot listen.
 */
export async function serveMonitor(options: LiveMonitorOptions = {}): Promise<LiveMonitor> {
  const resolved = parseOptions('serveMonitor', schema, options);
  const live = new LivePage({ ...resolved, token: resolved.token ?? randomBytes(24).toString('base64url') });
  await live.listen();
  const release = resolved.signal && onAbort(resolved.signal, () => void live.close());
  const close = async () => {
    release?.();
    await live.close();
  };
  return { url: live.url, logger: live.logger, close, [Symbol.asyncDispose]: close };
}

/** Connections accepted besides those of readers. */
const spareConnections = 64;
/** Pause after rendering, in multiples of its duration. */
const rest = 20;

type Resolved = z.output<typeof schema> & { readonly token: string };

class LivePage {
  readonly logger: MetricsLogger = {
    log: (step, metrics) => {
      this.#logs.addMetrics(step, metrics);
      this.#changed();
    },
    finding: (_, finding) => {
      this.#logs.addFinding(finding);
      this.#changed();
    },
    note: (step, text) => {
      this.#logs.addNote(step, text);
      this.#changed();
    },
    close: async () => undefined,
  };
  readonly #options: Resolved;
  readonly #logs = new RecentLogs();
  readonly #readers = new Set<EventStream>();
  readonly #server: Server;
  #timer: NodeJS.Timeout | undefined;
  /** Page of the newest state, if rendered. */
  #rendered: Html | undefined;
  #renderMs = 0;
  #closing: Promise<void> | undefined;

  constructor(options: Resolved) {
    this.#options = options;
    this.#server = createServer((request, response) => this.#answer(request, response));
    this.#server.headersTimeout = 10_000;
    this.#server.requestTimeout = 10_000;
    // Whoever opens more, token or not, must not take the run's files from it.
    this.#server.maxConnections = options.maximumReaders + spareConnections;
    // A run that is over ends its process, whoever still looks at the page.
    this.#server.on('connection', (socket) => socket.unref());
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    const { host, token } = this.#options;
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}/?token=${encodeURIComponent(token)}`;
  }

  async listen(): Promise<void> {
    const { port, host } = this.#options;
    await new Promise<void>((listening, failed) => {
      // It stays: a connection that cannot be taken, as no file is left for it, must not end the run.
      this.#server.on('error', failed);
      this.#server.listen(port, host, listening);
    });
    this.#server.unref();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#update();
    for (const reader of this.#readers) reader.end();
    await new Promise<void>((closed) => {
      const timer = setTimeout(() => this.#server.closeAllConnections(), 500);
      this.#server.close(() => {
        clearTimeout(timer);
        closed();
      });
    });
  }

  #changed(): void {
    this.#rendered = undefined;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#readers.size === 0 || this.#closing !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#update();
      },
      Math.max(this.#options.refreshMs, rest * this.#renderMs),
    ).unref();
  }

  #update(): void {
    if (this.#readers.size === 0) return;
    const body = this.#body().html;
    for (const reader of this.#readers) reader.send('body', body);
  }

  #body(): Html {
    if (this.#rendered === undefined) {
      const start = this.#options.clock();
      this.#rendered = rendered(this.#logs.logs);
      this.#renderMs = this.#options.clock() - start;
    }
    return this.#rendered;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [path = '', query] = (request.url ?? '').split('?');
    const refusal = this.#refusalOf(request, path, new URLSearchParams(query).get('token') ?? '');
    if (refusal !== undefined) {
      response.writeHead(refusal.status, { 'content-type': 'text/plain; charset=utf-8' });
      response.end(`${refusal.reason}\n`);
    } else if (path === '/') this.#sendPage(response);
    else this.#stream(response);
  }

  #refusalOf(
    { method, headers }: IncomingMessage,
    path: string,
    token: string,
  ): { readonly status: number; readonly reason: string } | undefined {
    if (method !== 'GET') return { status: 405, reason: 'only GET is answered' };
    if (!this.#isOurs(headers.host)) return { status: 403, reason: 'unknown host' };
    if (!isEqual(token, this.#options.token)) {
      return { status: 401, reason: 'the address must carry the token that the run printed' };
    }
    if (path === '/') return undefined;
    if (path !== '/events') return { status: 404, reason: 'there is only one page' };
    if (this.#readers.size >= this.#options.maximumReaders)
      return { status: 503, reason: 'too many readers' };
    return undefined;
  }

  /** Rejects other host names, which a web page could use for DNS rebinding. IP addresses are safe. */
  #isOurs(header = ''): boolean {
    const name = header
      .replace(/:\d+$/, '')
      .replace(/^\[|\]$/g, '')
      .toLowerCase();
    return name === this.#options.host.toLowerCase() || name === 'localhost' || isIP(name) !== 0;
  }

  #sendPage(response: ServerResponse): void {
    const nonce = randomBytes(16).toString('base64');
    const { title } = this.#options;
    const body = html`<p id="status" role="status">Connecting.</p><div id="live">${this.#body()}</div>`;
    const page = renderPage({ title, body, script: { code: pageScript, nonce } });
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy(nonce),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.end(page);
  }

  #stream(response: ServerResponse): void {
    const reader = new EventStream(response, () => this.#readers.delete(reader));
    this.#readers.add(reader);
    reader.send('body', this.#body().html);
  }
}

/** A record that cannot be rendered costs the page, not the run. */
function rendered(logs: MonitorLogs): Html {
  try {
    return monitorPageBody(logs);
  } catch (error) {
    return html`<p class="empty">This could not be shown: ${error instanceof Error ? error.message : String(error)}</p>`;
  }
}

/** Compares in constant time. */
function isEqual(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
