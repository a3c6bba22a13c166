import { unpacked } from '../../src/blocks.ts';
import type { Curve } from '../../src/run-page/curve.ts';
import type { RunsView } from '../../src/run-page/view.ts';

/** Curves of a metric by name of the run. */
export type CurvesByRun = Readonly<Record<string, Curve>>;

/** Where the page has its data from. */
export interface Source {
  readonly isLive: boolean;
  view(): Promise<RunsView>;
  curves(metric: string): Promise<CurvesByRun>;
  /** Address of a page of trajectories. Absent if there is none. */
  trajectories?(run: string): Promise<string>;
  /** Calls `changed` when there is something new and `said` with how the connection stands. Default: nothing changes. */
  follow?(changed: () => void, said: (status: string) => void): void;
}

/** Of the page's other script, `eventsScript` of `@rlp/page`. */
declare const followEvents: (
  received: (event: string) => void,
  said: (status: string) => void,
) => Promise<void>;

const textOf = (id: string) => document.getElementById(id)?.textContent ?? '';

/** The data that the page came with, or those of its server. */
export async function openSource(): Promise<Source> {
  const index = textOf('index');
  if (index === '') return liveSource();
  const view = JSON.parse(await unpacked(index)) as RunsView;
  return {
    isLive: false,
    view: async () => view,
    curves: async (metric) => {
      const block = textOf(`curves-${view.metrics.indexOf(metric)}`);
      return JSON.parse(await unpacked(block)) as CurvesByRun;
    },
  };
}

function liveSource(): Source {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  const ask = async (path: string) => {
    const response = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
    if (response.ok) return response;
    const { error = response.statusText } = (await response.json().catch(() => ({}))) as { error?: string };
    throw new Refused(response.status, error);
  };
  return {
    isLive: true,
    view: async () => (await (await ask('view')).json()) as RunsView,
    curves: async (metric) =>
      (await (await ask(`curves?metric=${encodeURIComponent(metric)}`)).json()) as CurvesByRun,
    trajectories: async (run) => {
      const response = await ask(`trajectories?run=${encodeURIComponent(run)}`);
      return ((await response.json()) as { readonly address: string }).address;
    },
    follow(changed, said) {
      let connections = 0;
      const isNews = (event: string) => event === 'changed' || (event === 'connected' && ++connections > 1);
      void followEvents((event) => isNews(event) && changed(), said);
    },
  };
}

/** An answer other than 200. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What a reader without the token is told. */
export const unknownReader =
  'Not connected; open the whole address that the program printed, with its token.';
