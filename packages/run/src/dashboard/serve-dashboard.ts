import { randomBytes } from 'node:crypto';
import { setTimeout as waitFor } from 'node:timers/promises';
import { onAbort, parseOptions } from '@rlp/core';
import {
  EventStreams,
  type HttpExchange,
  type HttpHandler,
  type HttpServer,
  Refusal,
  serveHttp,
} from '@rlp/http';
import { runsPage } from '@rlp/viewer/runs';
import * as z from 'zod';
import { requireFolder, titleOf } from './folder-page.ts';
import { TrajectoryPages } from './trajectory-pages.ts';
import { WatchedRuns } from './watched-runs.ts';

const schema = z.strictObject({
  /** Folder of a run, or with folders of runs. Required. */
  directory: z.string().min(1),
  /** Title of the page. Default the name of the folder. */
  title: z.string().min(1).optional(),
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Address to listen on. Traffic is not encrypted, so others on the network can read it. Default `'127.0.0.1'`. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Token that readers need, at least 16 characters. Default: a random one. */
  token: z.string().min(16).optional(),
  /** Milliseconds between two looks at the files. Default 1000. */
  refreshMs: z.int().min(20).default(1000),
  /** Pages that may be open at the same time. Default 16. */
  maximumReaders: z.int().min(1).default(16),
  /** Closes the server. Default: no signal. */
  signal: z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'must be an AbortSignal').optional(),
});

/** Options of {@link serveDashboard}. */
export interface DashboardOptions extends z.input<typeof schema> {}

/** A page of runs that is served. */
export interface Dashboard {
  /**
   * Address with the token in its fragment, which browsers do not send. The page's script sends it in a header. Anyone who has the
   * address can see the runs.
   */
  readonly url: string;
  /** Stops listening. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serves a page of all runs in a folder on this machine, and updates it as their files grow.
 *
 * It only reads, so it can be started and stopped at any time, also on another machine that sees the folder.
 *
 * @throws `OptionsError` for wrong options, `ArgumentError` for a folder that is not there, the system's error if it cannot listen.
 */
export async function serveDashboard(options: DashboardOptions): Promise<Dashboard> {
  const parsed = parseOptions('serveDashboard', schema, options);
  await requireFolder(parsed.directory);
  const live = new LiveDashboard(parsed);
  await live.listen();
  const release = parsed.signal && onAbort(parsed.signal, () => void live.close());
  const close = async () => {
    release?.();
    await live.close();
  };
  return { url: live.url, close, [Symbol.asyncDispose]: close };
}

type Parsed = z.output<typeof schema>;

class LiveDashboard {
  readonly #options: Parsed;
  readonly #token: string;
  readonly #runs: WatchedRuns;
  readonly #pages = new TrajectoryPages();
  readonly #readers: EventStreams;
  /** The first look at the files. */
  #first: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #server: HttpServer | undefined;

  constructor(options: Parsed) {
    this.#options = options;
    this.#token = options.token ?? randomBytes(24).toString('base64url');
    this.#runs = new WatchedRuns(options.directory);
    this.#readers = new EventStreams({ maxConnections: options.maximumReaders, maxWaiting: 1 });
  }

  get url(): string {
    return `${this.#server!.url}/#token=${encodeURIComponent(this.#token)}`;
  }

  async listen(): Promise<void> {
    const { port, host, maximumReaders } = this.#options;
    this.#server = await serveHttp({
      ...{ port, host, token: this.#token, hostNames: [], timeoutMs: 10_000, closeMs: 500 },
      // The page itself says nothing of the runs.
      openPaths: (path) => path === '/' || this.#pages.has(path),
      maxConnections: maximumReaders + 64,
      handler: (request, exchange) => this.#answer(request, exchange),
    });
    this.#first = this.#read();
    this.#wait();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#readers.close();
    await this.#server?.close();
  }

  /** Looks at the files now and then, while somebody reads the page. */
  #wait(): void {
    this.#timer = setTimeout(() => {
      const look = this.#readers.size > 0 ? this.#read() : Promise.resolve();
      void look.finally(() => this.#timer && this.#wait());
    }, this.#options.refreshMs);
  }

  /** Reads what is new and tells the readers. Calls at the same time share one look. */
  #read(): Promise<void> {
    this.#reading ??= this.#runs
      .read()
      .then((isNew) => (isNew ? this.#readers.send({ event: 'changed', data: {} }) : undefined))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #answer({ method }: Parameters<HttpHandler>[0], exchange: HttpExchange): Promise<unknown> {
    if (method !== 'GET') throw new Refusal(405, 'expected GET');
    const { pathname, searchParams } = exchange.url;
    if (pathname === '/') return this.#page();
    if (pathname === '/events') return this.#readers.open(exchange);
    await briefly(this.#first!);
    if (pathname === '/curves') return this.#runs.curvesOf(searchParams.get('metric') ?? '');
    if (pathname === '/trajectories') return this.#opened(searchParams.get('run') ?? '');
    if (pathname.startsWith('/opened/')) return this.#trajectories(pathname);
    if (pathname !== '/view') throw new Refusal(404, 'there is only one page');
    await briefly(this.#read());
    return this.#runs.view;
  }

  async #page(): Promise<Response> {
    const nonce = randomBytes(16).toString('base64');
    const { title = titleOf(this.#options.directory) } = this.#options;
    const { page, contentSecurityPolicy } = await runsPage(undefined, { title, live: { nonce } });
    return htmlResponse(page, contentSecurityPolicy);
  }

  #opened(run: string): { readonly address: string } {
    const folder = this.#runs.folderOf(run);
    if (folder === undefined) throw new Refusal(404, `there is no run "${run}"`);
    return { address: this.#pages.open(run, folder) };
  }

  async #trajectories(path: string): Promise<Response> {
    const page = await this.#pages.page(path);
    if (page === undefined)
      throw new Refusal(404, 'this address works once; go back and open the trajectories again');
    return htmlResponse(page);
  }
}

/** Milliseconds that an answer waits for files to be read. After that it has what was read so far. */
const patience = 300;

async function briefly(reading: Promise<void>): Promise<void> {
  const ended = new AbortController();
  const { signal } = ended;
  await Promise.race([reading, waitFor(patience, undefined, { signal }).catch(() => {})]);
  ended.abort();
}

/** A page. Its own policy, which it has in its head, also comes as a header if it is given. */
function htmlResponse(page: string, policy?: string): Response {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    ...(policy && { 'content-security-policy': policy }),
  };
  return new Response(page, { headers });
}
