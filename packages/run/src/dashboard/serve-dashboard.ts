import { setTimeout as waitFor } from 'node:timers/promises';
import { parseOptions } from '@rlp/core';
import {
  EventStreams,
  type HttpExchange,
  htmlResponse,
  type PageSource,
  Refusal,
  type ServedPage,
  servedPageFields,
  servePage,
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
  /** Milliseconds between two looks at the files. Default 1000. */
  refreshMs: z.int().min(20).default(1000),
  ...servedPageFields,
});

/** Options of {@link serveDashboard}. */
export interface DashboardOptions extends z.input<typeof schema> {}

/** A page of runs that is served. */
export interface Dashboard extends ServedPage {}

/**
 * Serves a page of all runs in a folder on this machine, and updates it as their files grow.
 *
 * It only reads, so it can be started and stopped at any time, also on another machine that sees the folder.
 *
 * @throws OptionsError for wrong options, ArgumentError for a folder that is not there, the system's error if it cannot listen.
 */
export async function serveDashboard(options: DashboardOptions): Promise<Dashboard> {
  const parsed = parseOptions('serveDashboard', schema, options);
  await requireFolder(parsed.directory);
  const live = new LiveDashboard(parsed);
  const served = await servePage(parsed, live);
  live.watch();
  return served;
}

type Parsed = z.output<typeof schema>;

class LiveDashboard implements PageSource {
  readonly readers: EventStreams;
  readonly #options: Parsed;
  readonly #runs: WatchedRuns;
  readonly #pages = new TrajectoryPages();
  /** The first look at the files. */
  #overview: Promise<void> = Promise.resolve();
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: Parsed) {
    this.#options = options;
    this.#runs = new WatchedRuns(options.directory);
    this.readers = new EventStreams({ maxConnections: options.maximumReaders, maxWaiting: 1 });
  }

  /** Begins to look at the files. */
  watch(): void {
    this.#overview = this.#runs.overview().then(() => this.#tell());
    void this.#read();
    this.#wait();
  }

  readonly page = (nonce: string) => {
    const { title = titleOf(this.#options.directory) } = this.#options;
    return runsPage(undefined, { title, live: { nonce } });
  };

  readonly isOpen = (path: string) => this.#pages.has(path);

  readonly close = () => {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.readers.close();
  };

  readonly answer = async ({ url: { pathname, searchParams } }: HttpExchange): Promise<unknown> => {
    await briefly(this.#overview, patience.overview);
    if (pathname === '/curves') return this.#curves(searchParams.get('metric') ?? '');
    if (pathname === '/trajectories') return this.#opened(searchParams.get('run') ?? '');
    if (pathname.startsWith('/opened/')) return this.#trajectories(pathname);
    if (pathname !== '/view') throw new Refusal(404, 'there is only one page');
    // A read in progress tells the readers when it ends.
    if (this.#reading === undefined) await briefly(this.#read(), patience.look);
    return this.#runs.view;
  };

  /** Looks at the files now and then, while somebody reads the page. */
  #wait(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      const look = this.readers.size > 0 ? this.#read() : Promise.resolve();
      void look.finally(() => this.#wait());
    }, this.#options.refreshMs);
  }

  /** Reads what is new and tells the readers. Calls at the same time share one look. */
  #read(): Promise<void> {
    this.#reading ??= this.#overview
      .then(() => this.#runs.read())
      .then((isNew) => (isNew ? this.#tell() : undefined))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  #tell(): void {
    this.readers.send({ event: 'changed', data: {} });
  }

  async #curves(metric: string): Promise<unknown> {
    await this.#runs.prepare(metric);
    return this.#runs.curvesOf(metric);
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
    return htmlResponse({ page });
  }
}

/** Milliseconds that an answer waits for files to be read. After that it has what was read so far. */
const patience = { overview: 1000, look: 80 };

async function briefly(reading: Promise<void>, milliseconds: number): Promise<void> {
  const ended = new AbortController();
  const { signal } = ended;
  await Promise.race([reading, waitFor(milliseconds, undefined, { signal }).catch(() => {})]);
  ended.abort();
}
