import { ArgumentError, parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { checksumFile, isIntact, sealDirectory } from './checksums.ts';
import { hasCode, namesIn, paths, readText, removeTree, syncDirectory, writeNewFile } from './file-system.ts';
import { nodeHost, type StoreHost } from './host.ts';
import { holdDirectory, type Lease } from './lease.ts';
import { isSame } from './process-identity.ts';
import {
  discard,
  renameIfThere,
  type TemporaryName,
  temporaryNames,
  temporaryPath,
} from './temporary-names.ts';

const saveSchema = z.strictObject({
  /** Number of the checkpoint, such as the iteration. Required. */
  number: z.int().nonnegative(),
  /** Number of checkpoints that stay, including the new one. Default 2. */
  keep: z.int().min(1).default(2),
});

/** Options of {@link saveNumbered}. */
export interface SaveNumberedOptions extends z.input<typeof saveSchema> {}

/** File that names the newest checkpoint. */
export const pointerFile = 'latest';

const checkpointPattern = /^checkpoint-(\d{8,})(?:-(\d+))?$/;

/** Whether a directory of this name is a checkpoint. */
export function isCheckpointName(name: string): boolean {
  return checkpointPattern.test(name);
}

/** Leases of directories whose checkpoints this process loaded or wrote. */
const continued = new WeakSet<Lease>();

/** Leases of directories that were swept. */
const swept = new WeakSet<Lease>();

/**
 * Saves a checkpoint as `directory/checkpoint-NNNNNNNN`, and removes older ones after that.
 *
 * `write` fills a directory with a temporary name. Its files are flushed to disk and get a `SHA256SUMS`. Then
 * it takes its name, and `latest` names it. A second save of one number gets the suffix `-2`, and then the first is
 * removed. If its files are equal, nothing changes. So a crash at any moment leaves at least the checkpoints before it.
 *
 * The process holds the directory from its first save to its end; see {@link holdDirectory}.
 *
 * @returns Path of the checkpoint.
 * @throws DirectoryInUseError if another process writes to the directory.
 * @throws ArgumentError if the directory holds a later checkpoint, or those of a run that this process did not continue.
 */
export async function saveNumbered(
  directory: string,
  options: SaveNumberedOptions,
  write: (temporary: string) => Promise<void>,
  host: StoreHost = nodeHost(),
): Promise<string> {
  requireArguments(
    'saveNumbered',
    { directory: 'text', write: 'function', host: 'object?' },
    directory,
    write,
    host,
  );
  const { number, keep } = parseOptions('saveNumbered', saveSchema, options);
  const root = paths().resolve(directory);
  const lease = await holdDirectory(root, host);
  await sweep(host, lease);
  const before = await numberedCheckpoints(root, host);
  requireContinued(root, number, before, lease);
  const name = `checkpoint-${String(number).padStart(8, '0')}`;
  const temporary = temporaryPath(host, paths().join(root, name), 'partial');
  try {
    await host.files.mkdir(temporary);
    await write(temporary);
    const sums = await sealDirectory(host.files, temporary);
    const [newest] = before;
    const published =
      newest !== undefined && positionOf(newest)[0] === number && (await holds(host, root, newest, sums))
        ? newest
        : await publish(host, lease, temporary, nextRevision(name, before));
    continued.add(lease);
    await point(host, root, published);
    await prune(host, root, number, keep);
    return paths().join(root, published);
  } finally {
    await discard(host.files, temporary);
  }
}

/**
 * Takes a directory to continue the run in it, and completes what a crash left: a complete checkpoint that had no name yet
 * gets it, and other leftovers are removed.
 *
 * @returns Path of the newest checkpoint; `undefined` if there is none.
 * @throws DirectoryInUseError if another process writes to the directory.
 */
export async function continueNumbered(
  directory: string,
  host: StoreHost = nodeHost(),
): Promise<string | undefined> {
  requireArguments('continueNumbered', { directory: 'text', host: 'object?' }, directory, host);
  try {
    const lease = await holdDirectory(directory, host);
    await sweep(host, lease);
    continued.add(lease);
  } catch (cause) {
    // What cannot be written can still be read.
    if (!hasCode(cause, 'EROFS', 'EACCES', 'EPERM')) throw cause;
  }
  return newestNumbered(directory, host);
}

/** Path of the newest checkpoint; `undefined` if there is none. Writes nothing and needs no lease. */
export async function newestNumbered(
  directory: string,
  host: StoreHost = nodeHost(),
): Promise<string | undefined> {
  requireArguments('newestNumbered', { directory: 'text', host: 'object?' }, directory, host);
  const root = paths().resolve(directory);
  const [newest] = await numberedCheckpoints(root, host);
  return newest === undefined ? undefined : paths().join(root, newest);
}

/** Names of the checkpoints in a directory, newest first. */
export async function numberedCheckpoints(directory: string, host: StoreHost): Promise<string[]> {
  const names = (await namesIn(host.files, directory)).filter((name) => checkpointPattern.test(name));
  return names.sort((a, b) => {
    const [first, second] = [positionOf(a), positionOf(b)];
    return second[0] - first[0] || second[1] - first[1];
  });
}

function positionOf(name: string): readonly [number: number, revision: number] {
  const [, number, revision = 1] = checkpointPattern.exec(name)!;
  return [Number(number), Number(revision)];
}

function nextRevision(name: string, existing: readonly string[]): string {
  const [number] = positionOf(name);
  const revisions = existing.map(positionOf).filter(([other]) => other === number);
  return revisions.length === 0 ? name : `${name}-${revisions[0]![1] + 1}`;
}

function requireContinued(
  directory: string,
  number: number,
  [newest]: readonly string[],
  lease: Lease,
): void {
  if (newest === undefined) return;
  if (positionOf(newest)[0] > number) {
    throw new ArgumentError(
      `${directory} holds ${newest} of a run that went farther than iteration ${number}, and resuming would take that ` +
        'one; save to another directory, or delete what is there',
    );
  }
  if (continued.has(lease)) return;
  throw new ArgumentError(
    `${directory} holds ${newest} of an earlier run that this process did not resume; load it first to continue it, save ` +
      'to another directory to keep it, or delete it',
  );
}

async function holds(host: StoreHost, root: string, name: string, sums: string): Promise<boolean> {
  const path = paths().join(root, name);
  const own = await readText(host.files, paths().join(path, checksumFile));
  return own === sums && (await isIntact(host.files, path));
}

async function publish(host: StoreHost, lease: Lease, temporary: string, name: string): Promise<string> {
  await lease.check();
  await host.files.rename(temporary, paths().join(lease.directory, name));
  await syncDirectory(host.files, lease.directory);
  return name;
}

/** Lets `latest` name a checkpoint. */
async function point(host: StoreHost, root: string, name: string): Promise<void> {
  const path = paths().join(root, pointerFile);
  const line = `${name}\n`;
  if ((await readText(host.files, path)) === line) return;
  const temporary = temporaryPath(host, path, 'partial');
  try {
    await writeNewFile(host.files, temporary, line);
    await host.files.rename(temporary, path);
  } finally {
    await discard(host.files, temporary);
  }
  await syncDirectory(host.files, root);
}

/** Removes checkpoints beyond the newest `keep`, and earlier saves of the newest number. */
async function prune(host: StoreHost, root: string, number: number, keep: number): Promise<void> {
  const names = await numberedCheckpoints(root, host);
  const revised = names.filter((name, index) => index > 0 && positionOf(name)[0] === number);
  const current = names.filter((name) => !revised.includes(name));
  for (const name of [...revised, ...current.slice(keep)]) {
    const path = paths().join(root, name);
    const removed = temporaryPath(host, path, 'removed');
    await host.files.rename(path, removed);
    await syncDirectory(host.files, root);
    await removeTree(host.files, removed);
  }
}

/** Completes or removes what processes before this one left in a directory that this process holds. */
async function sweep(host: StoreHost, lease: Lease): Promise<void> {
  const { files, self } = host;
  if (swept.has(lease)) return;
  const isOurs = (target: string) => checkpointPattern.test(target) || target === pointerFile;
  for (const leftover of await temporaryNames(files, lease.directory, isOurs)) {
    if (isSame(leftover.owner, self)) continue;
    const path = paths().join(lease.directory, leftover.name);
    if (!(await adopted(host, lease, leftover, path))) await removeTree(files, path);
  }
  const [newest] = await numberedCheckpoints(lease.directory, host);
  if (newest !== undefined) await point(host, lease.directory, newest);
  swept.add(lease);
}

/** Names a complete checkpoint that the previous holder of the directory could not name any more. */
async function adopted(
  { files }: StoreHost,
  { directory, predecessor }: Lease,
  { kind, target, owner }: TemporaryName,
  path: string,
): Promise<boolean> {
  const wasHolder = predecessor !== undefined && isSame(owner, predecessor);
  if (kind !== 'partial' || !wasHolder || !checkpointPattern.test(target)) return false;
  const [number] = positionOf(target);
  const names = (await namesIn(files, directory)).filter((name) => checkpointPattern.test(name));
  if (names.some((name) => positionOf(name)[0] >= number) || !(await isIntact(files, path))) return false;
  if (await renameIfThere(files, path, paths().join(directory, target)))
    await syncDirectory(files, directory);
  return true;
}
