import { randomBytes } from 'node:crypto';
import { type MetricsLogger, messageOf, onAbort, parseOptions } from '@rlp/core';
import {
  EventStreams,
  type HttpExchange,
  type HttpHandler,
  type HttpServer,
  Refusal,
  type ServerEvent,
  serveHttp,
} from '@rlp/http';
import { contentSecurityPolicy, type Html, html, renderPage } from '@rlp/page';
import * as z from 'zod';
import type { MonitorLogs } from '../files/read-logs.ts';
import { monitorPageBody } from '../report/monitor-page.ts';
import { pageScript } from './page-script.ts';
import { RecentLogs } from './recent-logs.ts';

const schema = z.strictObject({
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Address to listen on. Traffic is not encrypted, so others on the network can read it. Default `'127.0.0.1'`. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Token that readers need, at least 16 characters. Default: a random one. */
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
  /**
   * Address with the token in its fragment, which browsers do not send. The page's script sends it in a header. Anyone who has the
   * address can see the run.
   */
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
    log: (step, metrics) => this.#change(() => this.#logs.addMetrics(step, metrics)),
    finding: (_, finding) => this.#change(() => this.#logs.addFinding(finding)),
    note: (step, text) => this.#change(() => this.#logs.addNote(step, text)),
    close: async () => undefined,
  };
  readonly #options: Resolved;
  readonly #logs = new RecentLogs();
  /** A slow reader misses states. The run never waits for it. */
  readonly #readers: EventStreams;
  #server: HttpServer | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Page of the newest state, if rendered. */
  #rendered: Html | undefined;
  #renderMs = 0;
  #closing: Promise<void> | undefined;

  constructor(options: Resolved) {
    this.#options = options;
    this.#readers = new EventStreams({ maxConnections: options.maximumReaders, maxWaiting: 1 });
  }

  get url(): string {
    return `${this.#server!.url}/#token=${encodeURIComponent(this.#options.token)}`;
  }

  async listen(): Promise<void> {
    const { port, host, token, maximumReaders } = this.#options;
    this.#server = await serveHttp({
      ...{ port, host, token, hostNames: [], timeoutMs: 10_000, closeMs: 500 },
      // The page itself says nothing of the run.
      openPaths: ['/'],
      // Clients that open more, with or without the token, must not use up the files of the run.
      maxConnections: maximumReaders + spareConnections,
      // A run that is over ends its process while pages are open.
      process: 'released',
      handler: (request, exchange) => this.#answer(request, exchange),
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#update();
    this.#readers.close({ event: 'end', data: {} });
    await this.#server?.close();
  }

  /** Makes a change and schedules an update. */
  #change(make: () => void): void {
    make();
    this.#rendered = undefined;
    if (this.#timer !== undefined || this.#readers.size === 0 || this.#closing !== undefined) return;
    const pause = Math.max(this.#options.refreshMs, rest * this.#renderMs);
    this.#timer = setTimeout(() => this.#update(), pause).unref();
  }

  #update(): void {
    this.#timer = undefined;
    if (this.#readers.size > 0) this.#readers.send(this.#state());
  }

  #state(): ServerEvent {
    if (this.#rendered === undefined) {
      const start = this.#options.clock();
      this.#rendered = rendered(this.#logs.logs);
      this.#renderMs = this.#options.clock() - start;
    }
    return { event: 'body', data: this.#rendered.html };
  }

  #answer({ method }: Parameters<HttpHandler>[0], exchange: HttpExchange): Response {
    if (method !== 'GET') throw new Refusal(405, 'expected GET');
    if (exchange.url.pathname === '/') return page(this.#options.title);
    if (exchange.url.pathname !== '/events') throw new Refusal(404, 'there is only one page');
    return this.#readers.open(exchange, this.#state());
  }
}

/** The page without contents. Its script asks for them. */
function page(title: string): Response {
  const nonce = randomBytes(16).toString('base64');
  const body = html`<p id="status" role="status">Connecting.</p><div id="live"></div>`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy(nonce),
  };
  return new Response(renderPage({ title, body, script: { code: pageScript, nonce } }), { headers });
}

/** A record that cannot be rendered costs the page, not the run. */
function rendered(logs: MonitorLogs): Html {
  try {
    return monitorPageBody(logs);
  } catch (error) {
    return html`<p class="empty">This could not be shown: ${messageOf(error)}</p>`;
  }
}
