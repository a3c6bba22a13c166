import { ArgumentError, RlpError, requireArguments } from '@rlp/core';
import * as z from 'zod';
import {
  hasCode,
  makeDirectories,
  namesIn,
  paths,
  readText,
  removeTree,
  statusOf,
  writeFully,
  writeNewFile,
} from './file-system.ts';
import { nodeHost, type StoreHost } from './host.ts';
import { namedPath } from './named-path.ts';
import { isSame, type ProcessIdentity, processIdentitySchema } from './process-identity.ts';
import { discard, isAbandoned, temporaryNames, temporaryPath } from './temporary-names.ts';

const holderSchema = processIdentitySchema.extend({
  /** When the process took the directory, in milliseconds since 1970. */
  since: z.number(),
});

/** The process that writes to a directory. */
export type LeaseHolder = z.output<typeof holderSchema>;

/** Another process writes to the directory, or took it over. */
export class DirectoryInUseError extends RlpError {
  override readonly name = 'DirectoryInUseError';
  readonly holder: LeaseHolder;

  constructor(message: string, holder: LeaseHolder) {
    super(message);
    this.holder = holder;
  }
}

/** The right to write to a directory. {@link holdDirectory} returns one. */
export interface Lease {
  readonly directory: string;
  /** The process that held the directory before and has ended without giving it back. */
  readonly predecessor: LeaseHolder | undefined;
  /** @throws DirectoryInUseError if another process took the directory over, ArgumentError if it was renamed or deleted. */
  check(): Promise<void>;
  /** Gives the directory back. It is also given back when the process exits. */
  release(): Promise<void>;
}

/** Milliseconds between two signs of life. */
const heartbeatMs = 15_000;

/** A holder on another machine that is silent for longer is taken for dead. */
const silentAfterMs = 120_000;

const generationPattern = /^\.lease-(\d{8,})$/;

/** One grant of a directory. The highest generation counts, and it is never deleted. */
interface Grant {
  readonly generation: number;
  readonly path: string;
  /** Absent if the directory was given back. */
  readonly holder: LeaseHolder | undefined;
}

/** Leases of this process by directory. A process asks for a directory as often as it likes. */
const leases = new WeakMap<StoreHost, Map<string, Promise<Lease>>>();

/**
 * Takes the right to write to a directory, and keeps it until `release` or the end of the process.
 *
 * Creates the directory if needed. Another process that asks in the meantime gets an error. If the holder has ended, the
 * directory is taken over. A process of this machine is looked up by its number and start time. One of another machine
 * counts as ended after 120 s without a sign of life.
 *
 * @throws DirectoryInUseError if another process holds the directory. The message names it.
 */
export async function holdDirectory(directory: string, host: StoreHost = nodeHost()): Promise<Lease> {
  requireArguments('holdDirectory', { directory: 'text', host: 'object?' }, directory, host);
  const path = paths().resolve(directory);
  const own = leases.get(host) ?? new Map<string, Promise<Lease>>();
  leases.set(host, own);
  const held = await own.get(path);
  if (held !== undefined && (await highest(host, path)) !== undefined) {
    await held.check();
    return held;
  }
  await held?.release();
  const forget = () => void own.delete(path);
  const taken = own.get(path) ?? makeDirectories(host.files, path).then(() => acquire(host, path, forget));
  own.set(path, taken);
  taken.catch(forget);
  return taken;
}

/** Gives a directory back if this process holds it. */
export async function releaseDirectory(directory: string, host: StoreHost = nodeHost()): Promise<void> {
  const lease = await leases.get(host)?.get(paths().resolve(directory));
  await lease?.release();
}

/** The process that holds a directory; `undefined` if none does. Writes nothing. */
export async function directoryHolder(
  directory: string,
  host: StoreHost = nodeHost(),
): Promise<LeaseHolder | undefined> {
  requireArguments('directoryHolder', { directory: 'text', host: 'object?' }, directory, host);
  const grant = await highest(host, paths().resolve(directory));
  return grant?.holder !== undefined && host.liveness(grant.holder) !== 'dead' ? grant.holder : undefined;
}

async function acquire(host: StoreHost, directory: string, forget: () => void): Promise<Lease> {
  for (;;) {
    const current = await highest(host, directory);
    if (current?.holder && isSame(current.holder, host.self))
      return leaseOf(host, current, undefined, forget);
    if (current?.holder && host.liveness(current.holder) === 'alive') throw inUse(host, directory, current);
    const generation = (current?.generation ?? 0) + 1;
    const grant = await create(host, directory, generation, current);
    if (grant === 'taken') continue;
    if ((await highest(host, directory))?.generation !== generation) {
      await discard(host.files, grant.path);
      continue;
    }
    await sweep(host, directory, generation);
    return leaseOf(host, grant, current?.holder, forget);
  }
}

/** Creates a generation, which only one process can. Compares the times of two files, so clocks need not agree. */
async function create(
  host: StoreHost,
  directory: string,
  generation: number,
  current: Grant | undefined,
): Promise<Grant | 'taken'> {
  const { files } = host;
  const path = paths().join(directory, `.lease-${String(generation).padStart(8, '0')}`);
  const temporary = temporaryPath(host, path, 'partial');
  const holder = { ...host.self, since: host.now() };
  try {
    await files.mkdir(temporary);
    await writeNewFile(files, holderFile(temporary), JSON.stringify(holder));
    if (current?.holder && host.liveness(current.holder) === 'unknown') {
      const silence = await silenceOf(host, current, holderFile(temporary));
      if (silence < silentAfterMs) throw inUse(host, directory, current, silence);
    }
    await files.rename(temporary, path);
    return { generation, path, holder };
  } catch (cause) {
    if (hasCode(cause, 'ENOTEMPTY', 'EEXIST')) return 'taken';
    throw namedPath(cause, directory);
  } finally {
    await discard(files, temporary);
  }
}

async function silenceOf({ files }: StoreHost, { path }: Grant, fresh: string): Promise<number> {
  const beat = await statusOf(files, holderFile(path));
  return beat === undefined ? Number.POSITIVE_INFINITY : (await files.lstat(fresh)).mtimeMs - beat.mtimeMs;
}

function leaseOf(
  host: StoreHost,
  { path, generation, holder }: Grant,
  predecessor: LeaseHolder | undefined,
  forget: () => void,
): Lease {
  const directory = paths().dirname(path);
  // A sign of life that fails is not an error: `check` notices what matters.
  const stopBeating = host.every(heartbeatMs, () => void beat(host, path, holder).catch(() => undefined));
  const keepName = host.renameAtExit(holderFile(path), releasedFile(path));
  const stop = () => {
    stopBeating();
    keepName();
    forget();
  };
  return {
    directory,
    predecessor: predecessor && host.liveness(predecessor) === 'dead' ? predecessor : undefined,
    check: async () => {
      const current = await highest(host, directory);
      if (current?.generation === generation && current.holder !== undefined) return;
      stop();
      if (current === undefined)
        throw new ArgumentError(
          `${directory} was renamed, moved or deleted while this process wrote to it; nothing more was saved. Continue the run where it is now`,
        );
      const other = current.holder ?? { ...host.self, since: host.now() };
      throw new DirectoryInUseError(
        `${directory}: ${named(other)} took the directory over, because this process showed no sign of life; nothing was ` +
          'saved. Stop one of the two, and resume the run with the other',
        other,
      );
    },
    release: async () => {
      stop();
      await host.files.rename(holderFile(path), releasedFile(path)).catch((cause: unknown) => {
        if (!hasCode(cause, 'ENOENT')) throw cause;
      });
    },
  };
}

/** Writes the same bytes again, so that the file system's clock dates them. */
async function beat({ files }: StoreHost, path: string, holder: LeaseHolder | undefined): Promise<void> {
  const file = await files.open(holderFile(path), 'r+');
  try {
    await writeFully(file, new TextEncoder().encode(JSON.stringify(holder)));
  } finally {
    await file.close();
  }
}

async function highest({ files }: StoreHost, directory: string): Promise<Grant | undefined> {
  const names = (await namesIn(files, directory)).filter((name) => generationPattern.test(name));
  const generations = names.map((name) => Number(generationPattern.exec(name)?.[1]));
  const generation = Math.max(0, ...generations);
  if (generation === 0) return undefined;
  const path = paths().join(directory, names[generations.indexOf(generation)]!);
  const text = await readText(files, holderFile(path));
  const parsed = z.preprocess(parseJson, holderSchema).safeParse(text);
  return { generation, path, holder: parsed.success ? parsed.data : undefined };
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Removes lower generations, and attempts of processes that have ended. */
async function sweep(host: StoreHost, directory: string, generation: number): Promise<void> {
  for (const name of await namesIn(host.files, directory)) {
    const [, older] = generationPattern.exec(name) ?? [];
    if (older !== undefined && Number(older) < generation) {
      await removeTree(host.files, paths().join(directory, name));
    }
  }
  const attempts = await temporaryNames(host.files, directory, (target) => generationPattern.test(target));
  for (const attempt of attempts) {
    if (await isAbandoned(host, directory, attempt))
      await discard(host.files, paths().join(directory, attempt.name));
  }
}

function inUse(host: StoreHost, directory: string, { holder }: Grant, silence?: number): DirectoryInUseError {
  const other = holder!;
  const age = duration(host.now() - other.since);
  const sign =
    silence === undefined
      ? ''
      : `. Its last sign of life was ${duration(silence)} ago; after ${duration(silentAfterMs)} without one, the directory is free`;
  return new DirectoryInUseError(
    `${directory}: ${named(other)} has been writing here for ${age}${sign}. Stop that process, or use another directory`,
    other,
  );
}

const named = ({ pid, host }: ProcessIdentity) => `process ${pid} on ${host}`;

function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

const holderFile = (grant: string) => paths().join(grant, 'holder.json');
const releasedFile = (grant: string) => paths().join(grant, 'released.json');
