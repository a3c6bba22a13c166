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
    follow: (changed, said) => void followed(ask, changed, said),
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

/** Reads events until the server is gone, and connects again. Not an `EventSource`, which sends no headers. */
async function followed(
  ask: (path: string) => Promise<Response>,
  changed: () => void,
  said: (status: string) => void,
): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      const reader = (await ask('events')).body!.pipeThrough(new TextDecoderStream()).getReader();
      said('Live.');
      if (!isFirst) changed();
      for (let read = await reader.read(); !read.done; read = await reader.read())
        if (read.value.includes('event: changed')) changed();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return said(unknownReader);
    }
    said('Not connected; trying again.');
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

/** What a reader without the token is told. */
export const unknownReader =
  'Not connected; open the whole address that the program printed, with its token.';
