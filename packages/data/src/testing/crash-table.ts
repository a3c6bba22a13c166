import { RandomStream } from '@rlp/core';
import type { StoreHost } from '../store/host.ts';
import { type Fault, SimulatedDisk } from './simulated-disk.ts';

/** Sequence of saves of the versions 1, 2, 3 and so on. */
export interface CrashScenario {
  readonly name: string;
  /** Saves that exist before the first fault: versions 1 to this. Default 0. */
  readonly before?: number;
  /** Number of saves during which faults are injected. */
  readonly saves: number;
  /** Saves a version. */
  save(host: StoreHost, version: number): Promise<void>;
  /** Called in a new process before it saves on. */
  resume?(host: StoreHost): Promise<unknown>;
  /** Loads the version that is there; `undefined` for none. Rejects if files of two versions are mixed or one is damaged. */
  load(host: StoreHost): Promise<number | undefined>;
}

/** Outcome of all crash points of a scenario. */
export interface CrashTable {
  readonly name: string;
  /** File operations of the sequence. */
  readonly operations: number;
  /** Points by fault. */
  readonly points: Readonly<Record<Fault, number>>;
  /** Descriptions of what was lost, mixed or left behind. */
  readonly problems: readonly string[];
}

/** Faults of the table. Torn writes are injected into writes only. */
export const faults: readonly Fault[] = [
  'kill-before',
  'kill-after',
  'torn-write',
  'short-write',
  'disk-full',
  'io-error',
  'power-loss',
  'power-loss-all',
];

/**
 * Injects every fault into every file operation of a scenario, each into a new disk.
 *
 * `'distinct'` leaves out points that leave the same disk as another one, such as a kill after a read. After each point, a new process must load a version that is complete, and at least as new as the last one whose save
 * had resolved. Then it saves the next version, loads it, and leaves nothing temporary behind. After a full disk and an
 * input error, the same process must do so too.
 */
export async function crashTable(
  scenario: CrashScenario,
  which: 'all' | 'distinct' = 'all',
): Promise<CrashTable> {
  const points: Record<Fault, number> = Object.fromEntries(faults.map((fault) => [fault, 0])) as never;
  const problems: string[] = [];
  const dry = await prepared(scenario, 'dry');
  const first = dry.disk.log.length;
  await saveAll(scenario, dry.host, () => undefined);
  const operations = dry.disk.log.slice(first);
  for (const [index, operation] of operations.entries()) {
    for (const kind of faults) {
      if (!applies(kind, operation, which)) continue;
      points[kind] += 1;
      const fault = { at: first + index, kind };
      const problem = await tryPoint(scenario, fault).catch((error: unknown) => String(error));
      if (problem !== undefined) problems.push(`${scenario.name}, ${kind} at ${operation}: ${problem}`);
    }
  }
  return { name: scenario.name, operations: operations.length, points, problems };
}

const changing = /^(mkdir|rmdir|unlink|rename|write|sync|open wx) /;
const growing = /^(mkdir|rename|write|open wx) /;

function applies(kind: Fault, operation: string, which: 'all' | 'distinct'): boolean {
  if (kind === 'torn-write' || kind === 'short-write') return operation.startsWith('write ');
  if (which === 'all' || kind === 'io-error') return true;
  if (kind === 'kill-before') return false;
  return (kind === 'disk-full' ? growing : changing).test(operation);
}

async function prepared(scenario: CrashScenario, seed: string) {
  const disk = new SimulatedDisk(RandomStream.named(seed, scenario.name));
  const earlier = disk.startProcess();
  for (let version = 1; version <= (scenario.before ?? 0); version++) await scenario.save(earlier, version);
  const host = disk.startProcess();
  return { disk, host };
}

async function saveAll(
  { before = 0, saves, save, resume }: CrashScenario,
  host: StoreHost,
  onSaved: (version: number) => void,
): Promise<void> {
  await resume?.(host);
  for (let version = before + 1; version <= before + saves; version++) {
    await save(host, version);
    onSaved(version);
  }
}

async function tryPoint(
  scenario: CrashScenario,
  fault: { readonly at: number; readonly kind: Fault },
): Promise<string | undefined> {
  const { before = 0, saves } = scenario;
  const { disk, host } = await prepared(scenario, `${fault.at} ${fault.kind}`);
  let saved = before;
  disk.fault = fault;
  await saveAll(scenario, host, (version) => {
    saved = version;
  }).catch(() => undefined);
  disk.fault = undefined;
  disk.isFull = false;
  const survives = fault.kind === 'disk-full' || fault.kind === 'io-error' || fault.kind === 'short-write';
  let newest = saved;
  for (const index of survives ? [0, 1] : [1]) {
    const process = index === 0 ? host : disk.startProcess();
    await scenario.resume?.(process);
    const loaded = (await scenario.load(process)) ?? 0;
    if (loaded < newest) return `version ${newest} was saved, and version ${loaded} was loaded`;
    if (loaded > Math.max(newest, before + saves)) return `version ${loaded} was never saved`;
    newest = Math.max(newest, before + saves) + 1;
    await scenario.save(process, newest);
    const again = await scenario.load(process);
    if (again !== newest) return `version ${newest} was saved afterwards, and version ${again} was loaded`;
  }
  const left = disk.paths().filter((path) => /\.(partial|replaced|removed)(\/|$)/.test(path));
  return left.length === 0 ? undefined : `left behind: ${left.join(', ')}`;
}
