import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecords, type RecordedTrajectory, type Trajectory } from '@rlp/core';
import { readJsonLinesFile } from '@rlp/data/files';
import { trajectoryPage } from '@rlp/viewer';
import { runFiles } from '../folder/run-files.ts';

/** Trajectories of a page: the last ones of a run. */
const most = 5000;
/** Pages that wait to be opened. */
const mostWaiting = 8;

/** Pages of trajectories, each at an address that nobody can guess and that works once. */
export class TrajectoryPages {
  readonly #waiting = new Map<string, { readonly name: string; readonly folder: string }>();

  /** Makes an address. A browser opens it without the token, which a link cannot carry. */
  open(name: string, folder: string): string {
    const ticket = randomBytes(24).toString('base64url');
    this.#waiting.set(ticket, { name, folder });
    for (const oldest of [...this.#waiting.keys()].slice(0, -mostWaiting)) this.#waiting.delete(oldest);
    return `/opened/${ticket}`;
  }

  has(path: string): boolean {
    return this.#waiting.has(ticketOf(path));
  }

  /** The page of an address. `undefined` if it was opened before. */
  async page(path: string): Promise<string | undefined> {
    const asked = this.#waiting.get(ticketOf(path));
    this.#waiting.delete(ticketOf(path));
    if (asked === undefined) return undefined;
    const { trajectories } = runFiles(asked.folder);
    return trajectoryPage(await lastRecords(trajectories), { title: `Trajectories of ${asked.name}` });
  }
}

const ticketOf = (path: string) => path.replace(/^\/opened\//, '');

/** The last records of a folder, in the order they were written. */
async function lastRecords(folder: string): Promise<readonly (RecordedTrajectory | Trajectory)[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  let records: (RecordedTrajectory | Trajectory)[] = [];
  for (const name of names.reverse()) {
    const own: (RecordedTrajectory | Trajectory)[] = [];
    const path = join(folder, name);
    for await (const { number, value } of readJsonLinesFile(path, { expected: 'one JSON object per line' }))
      own.push(...parseRecords(value, `${path}, line ${number}`));
    records = [...own, ...records];
    if (records.length >= most) return records.slice(-most);
  }
  return records;
}
