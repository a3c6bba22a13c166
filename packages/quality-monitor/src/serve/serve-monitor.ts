import { type MetricsLogger, messageOf, parseOptions } from '@rlp/core';
import {
  EventStreams,
  type PageSource,
  type ServedPage,
  type ServerEvent,
  servedPageFields,
  servePage,
} from '@rlp/http';
import { contentSecurityPolicy, type Html, html, renderPage } from '@rlp/page';
import * as z from 'zod';
import type { MonitorLogs } from '../files/read-logs.ts';
import { monitorPageBody } from '../report/monitor-page.ts';
import { pageScript } from './page-script.ts';
import { RecentLogs } from './recent-logs.ts';

const schema = z.strictObject({
  ...servedPageFields,
  /** Title of the page. Default `'Reward quality, live'`. */
  title: z.string().min(1).default('Reward quality, live'),
  /** Least milliseconds between two updates. Default 1000. */
  refreshMs: z.int().min(20).default(1000),
  /** Clock in milliseconds, to time the rendering. Default `performance.now`. */
  clock: z
    .custom<() => number>((value) => typeof value === 'function', 'must be a function')
    .default(() => () => performance.now()),
});

/** Options of {@link serveMonitor}. */
export interface LiveMonitorOptions extends z.input<typeof schema> {}

/** The live page of a run. `close` tells readers that the run is over. */
export interface LiveMonitor extends ServedPage {
  /** Pass it to a monitor: `new RewardQualityMonitor({ loggers: [live.logger] })`. */
  readonly logger: MetricsLogger;
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
  const live = new LivePage(resolved);
  return { ...(await servePage(resolved, live)), logger: live.logger };
}

/** Pause after rendering, in multiples of its duration. */
const rest = 20;

type Resolved = z.output<typeof schema>;

class LivePage implements PageSource {
  readonly logger: MetricsLogger = {
    log: (step, metrics) => this.#change(() => this.#logs.addMetrics(step, metrics)),
    finding: (_, finding) => this.#change(() => this.#logs.addFinding(finding)),
    note: (step, text) => this.#change(() => this.#logs.addNote(step, text)),
    close: async () => undefined,
  };
  /** A slow reader misses states. The run never waits for it. */
  readonly readers: EventStreams;
  /** A run that is over ends its process while pages are open. */
  readonly process = 'released';
  readonly #options: Resolved;
  readonly #logs = new RecentLogs();
  #timer: NodeJS.Timeout | undefined;
  /** Page of the newest state, if rendered. */
  #rendered: Html | undefined;
  #renderMs = 0;
  #isClosed = false;

  constructor(options: Resolved) {
    this.#options = options;
    this.readers = new EventStreams({ maxConnections: options.maximumReaders, maxWaiting: 1 });
  }

  /** The page without contents. Its script asks for them. */
  readonly page = (nonce: string) => {
    const { title } = this.#options;
    const body = html`<p id="status" role="status">Connecting.</p><div id="live"></div>`;
    const page = renderPage({ title, body, script: { code: pageScript, nonce } });
    return { page, contentSecurityPolicy: contentSecurityPolicy(nonce) };
  };

  readonly first = () => [this.#state()];

  readonly close = () => {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#update();
    this.readers.close({ event: 'end', data: {} });
  };

  /** Makes a change and schedules an update. */
  #change(make: () => void): void {
    make();
    this.#rendered = undefined;
    if (this.#timer !== undefined || this.readers.size === 0 || this.#isClosed) return;
    const pause = Math.max(this.#options.refreshMs, rest * this.#renderMs);
    this.#timer = setTimeout(() => this.#update(), pause).unref();
  }

  #update(): void {
    this.#timer = undefined;
    if (this.readers.size > 0) this.readers.send(this.#state());
  }

  #state(): ServerEvent {
    if (this.#rendered === undefined) {
      const start = this.#options.clock();
      this.#rendered = rendered(this.#logs.logs);
      this.#renderMs = this.#options.clock() - start;
    }
    return { event: 'body', data: this.#rendered.html };
  }
}

/** A record that cannot be rendered costs the page, not the run. */
function rendered(logs: MonitorLogs): Html {
  try {
    return monitorPageBody(logs);
  } catch (error) {
    return html`<p class="empty">This could not be shown: ${messageOf(error)}</p>`;
  }
}
