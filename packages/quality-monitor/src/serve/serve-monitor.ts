import { callback, type MetricsLogger, messageOf, parseOptions } from '@rlp/core';
import { EventStreams, type ServedPage, type ServerEvent, servedPageFields, servePage } from '@rlp/http';
import { contentSecurityPolicy, type Html, html, renderPage } from '@rlp/page';
import * as z from 'zod';
import type { MonitorLogs } from '../files/read-logs.ts';
import { monitorPageBody } from '../report/monitor-page.ts';
import { pageScript } from './page-script.ts';
import { recentLogs } from './recent-logs.ts';

const schema = z.strictObject({
  ...servedPageFields,
  /** Title of the page. Default `'Reward quality, live'`. */
  title: z.string().min(1).default('Reward quality, live'),
  /** Least milliseconds between two updates. Default 1000. */
  refreshMs: z.int().min(20).default(1000),
  /** Clock in milliseconds, to time the rendering. Default `performance.now`. */
  clock: callback<() => number>().default(() => () => performance.now()),
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
  const { title, refreshMs, clock, maximumReaders } = resolved;
  // A slow reader misses states. The run never waits for it.
  const readers = new EventStreams({ maxConnections: maximumReaders, maxWaiting: 1 });
  let state: ServerEvent | undefined;
  let renderMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const rendered = (): ServerEvent => {
    if (state === undefined) {
      const start = clock();
      state = { event: 'body', data: bodyOf(logs).html };
      renderMs = clock() - start;
    }
    return state;
  };
  const update = () => {
    timer = undefined;
    if (readers.size > 0) readers.send(rendered());
  };
  const { logs, logger } = recentLogs(() => {
    state = undefined;
    if (timer !== undefined || readers.size === 0 || isClosed) return;
    timer = setTimeout(update, Math.max(refreshMs, rest * renderMs)).unref();
  });
  const close = () => {
    isClosed = true;
    clearTimeout(timer);
    update();
    readers.close({ event: 'end', data: {} });
  };
  // A run that is over ends its process while pages are open.
  const source = { readers, first: () => [rendered()], process: 'released', close } as const;
  const page = (nonce: string) => ({
    page: renderPage({ title, body: unfilled, script: { code: pageScript, nonce } }),
    contentSecurityPolicy: contentSecurityPolicy(nonce),
  });
  return { ...(await servePage(resolved, { ...source, page })), logger };
}

/** Pause after rendering, in multiples of its duration. */
const rest = 20;

/** The page without contents. Its script asks for them. */
const unfilled = html`<p id="status" role="status">Connecting.</p><div id="live"></div>`;

/** A record that cannot be rendered costs the page, not the run. */
function bodyOf(logs: MonitorLogs): Html {
  try {
    return monitorPageBody(logs);
  } catch (error) {
    return html`<p class="empty">This could not be shown: ${messageOf(error)}</p>`;
  }
}
