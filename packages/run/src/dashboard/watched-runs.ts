import { readdir } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { messageOf } from '@rlp/core';
import { type Curve, type RunsView, thinned } from '@rlp/viewer/runs';
import { WatchedRun } from './watched-run.ts';

/** Folders within folders that are looked into. */
const depth = 3;
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

  /** Reads what is new. @returns whether anything was. */
  async read(): Promise<boolean> {
    const before = JSON.stringify([this.#problems, [...this.#runs.keys()]]);
    const problems: string[] = [];
    const folders = await runFolders(this.#root, depth).catch((error: unknown) => {
      problems.push(`${this.#root} cannot be read: ${messageOf(error)}`);
      return [];
    });
    if (folders.length > most) {
      problems.push(
        `${this.#root} holds ${folders.length} runs; the first ${most} are shown, so open a folder within it`,
      );
    }
    const kept = folders.slice(0, most).map((folder) => {
      const name = relative(this.#root, folder) || basename(folder);
      return [name, this.#runs.get(name) ?? new WatchedRun(name, folder)] as const;
    });
    this.#runs = new Map(kept);
    let isNew = false;
    for (const [, run] of kept) {
      const isGrown = await run.read().catch((error: unknown) => {
        problems.push(`${run.directory} cannot be read: ${messageOf(error)}`);
        return false;
      });
      isNew ||= isGrown;
      problems.push(...run.problems);
    }
    this.#problems = problems;
    return isNew || before !== JSON.stringify([problems, [...this.#runs.keys()]]);
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

  /** Curves of a metric by name of the run, with as many points as a chart shows. */
  curvesOf(metric: string): Readonly<Record<string, Curve>> {
    const curves = [...this.#runs].flatMap(([name, { curves }]): (readonly [string, Curve])[] => {
      const curve = curves.of(metric);
      return curve === undefined || curve.steps.length === 0 ? [] : [[name, thinned(curve)]];
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
