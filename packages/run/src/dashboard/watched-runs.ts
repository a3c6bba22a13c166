import { readdir } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '@rlp/core';
import type { Curve, RunsView } from '@rlp/viewer/runs';
import { WatchedRun } from './watched-run.ts';

/** Folders within folders that are looked into. */
const depth = 3;
/** Milliseconds of work before others have their turn. */
const turnMs = 8;
/** Runs that are shown. */
const most = 200;

/** All runs in a folder, as they grow. The folder itself may be a run. */
export class WatchedRuns {
  readonly #root: string;
  #runs = new Map<string, WatchedRun>();
  #problems: readonly string[] = [];

  constructor(root: string) {
    this.#root = resolve(root);
  }

  /** Finds the runs and reads enough of each to show its curves: all of small files, rows here and there of large ones. */
  async overview(): Promise<void> {
    const runs = await this.#find([]);
    await Promise.all(runs.map((run) => run.readState().catch(() => false)));
    this.#runs = new Map(runs.map((run) => [run.name, run]));
    // What cannot be read is told by `read`.
    for (const run of runs) await run.readOverview().catch(() => {});
  }

  /**
   * Reads what is new: first what is small of all runs, then the rows of one run after the other. {@link WatchedRuns.view} and
   * {@link WatchedRuns.curvesOf} have what was read so far, also while it reads.
   *
   * @returns Whether anything is new.
   */
  async read(): Promise<boolean> {
    const before = this.#state;
    const problems: string[] = [];
    const runs = await this.#find(problems);
    let isNew = false;
    const readAll = async (part: (run: WatchedRun) => Promise<boolean>) => {
      for (const run of runs) {
        const isGrown = await part(run).catch((error: unknown) => {
          problems.push(`${run.directory} cannot be read: ${messageOf(error)}`);
          return false;
        });
        isNew ||= isGrown;
      }
    };
    await readAll((run) => run.readState());
    this.#runs = new Map(runs.map((run) => [run.name, run]));
    await readAll((run) => run.readRows());
    this.#problems = [...problems, ...runs.flatMap((run) => run.problems)];
    return isNew || before !== this.#state;
  }

  /** The runs that are there now. */
  async #find(problems: string[]): Promise<readonly WatchedRun[]> {
    const folders = await runFolders(this.#root, depth).catch((error: unknown) => {
      problems.push(`${this.#root} cannot be read: ${messageOf(error)}`);
      return [];
    });
    if (folders.length > most) {
      problems.push(
        `${this.#root} holds ${folders.length} runs; the first ${most} are shown, so open a folder within it`,
      );
    }
    return folders.slice(0, most).map((folder) => {
      const name = relative(this.#root, folder) || basename(folder);
      return this.#runs.get(name) ?? new WatchedRun(name, folder);
    });
  }

  /** The problems and the names of the runs. */
  get #state(): string {
    return JSON.stringify([this.#problems, [...this.#runs.keys()]]);
  }

  get view(): RunsView {
    const runs = [...this.#runs.values()];
    const metrics = new Set(runs.flatMap(({ curves }) => [...curves.metrics]));
    return { runs: runs.map((run) => run.view), metrics: [...metrics].sort(), problems: this.#problems };
  }

  /** Folder of a run. `undefined` if there is none of this name. */
  folderOf(name: string): string | undefined {
    return this.#runs.get(name)?.directory;
  }

  /** Makes {@link WatchedRuns.curvesOf} of a metric cheap, a few runs at a time, so that other requests are answered meanwhile. */
  async prepare(metric: string): Promise<void> {
    let began = performance.now();
    for (const { curves } of [...this.#runs.values()]) {
      curves.of(metric);
      if (performance.now() - began < turnMs) continue;
      await nextTurn();
      began = performance.now();
    }
  }

  /** Curves of a metric by name of the run, with as many points as a chart shows. */
  curvesOf(metric: string): Readonly<Record<string, Curve>> {
    const curves = [...this.#runs].flatMap(([name, { curves }]): (readonly [string, Curve])[] => {
      const curve = curves.of(metric);
      return curve === undefined ? [] : [[name, curve]];
    });
    return Object.fromEntries(curves);
  }
}

/** Folders that hold a run, in the order of their names. Links are not followed. */
async function runFolders(folder: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'run.json' || name === 'metrics.jsonl')) return [folder];
  if (depth === 0) return [];
  const found: string[] = [];
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))) {
    if (!entry.isDirectory() || entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    found.push(...(await runFolders(join(folder, entry.name), depth - 1).catch(() => [])));
  }
  return found;
}
