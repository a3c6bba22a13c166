import { ArgumentError, requireArguments } from '@rlp/core';
import { checksumFile, isIntact, readChecksums, sealDirectory } from './checksums.ts';
import {
  hasCode,
  makeDirectories,
  namesIn,
  paths,
  readText,
  statusOf,
  syncDirectory,
} from './file-system.ts';
import { nodeHost, type StoreHost } from './host.ts';
import { namedPath } from './named-path.ts';
import { discard, isAbandoned, renameIfThere, temporaryNames, temporaryPath } from './temporary-names.ts';

/**
 * Writes a directory that is complete or absent, and replaces an earlier save at the path.
 *
 * `write` fills a temporary directory beside `path`. Its files are flushed to disk, `SHA256SUMS` is added, and the
 * directory takes its name. The earlier save is moved aside, not deleted, until then. If a crash falls between the
 * two renames, the next save or {@link recoverDirectory} puts one of the two in place. If the files are equal to the
 * earlier save's, nothing changes. On failure, the earlier save stays and the temporary directory is removed.
 *
 * If two calls write to one path at once, the last to complete stays.
 *
 * @throws ArgumentError if the path holds files that are not an earlier save, because they would be lost.
 * @throws the system's error, such as `EROFS` or `ENOSPC`.
 */
export async function writeDirectory(
  directory: string,
  write: (temporary: string) => Promise<void>,
  host: StoreHost = nodeHost(),
): Promise<void> {
  requireArguments(
    'writeDirectory',
    { directory: 'text', write: 'function', host: 'object?' },
    directory,
    write,
    host,
  );
  const { files } = host;
  const path = paths().resolve(directory);
  await makeDirectories(files, paths().dirname(path));
  await recoverDirectory(path, host);
  await requireReplaceable(host, path);
  const temporary = temporaryPath(host, path, 'partial');
  try {
    await files.mkdir(temporary);
    await write(temporary);
    const sums = await sealDirectory(files, temporary);
    if (await holds(host, path, sums)) return;
    while ((await putInPlace(host, temporary, path)) === 'taken');
  } catch (cause) {
    throw namedPath(cause, path);
  } finally {
    await discard(files, temporary);
  }
}

/**
 * Completes what a crash of {@link writeDirectory} left: puts a complete save in place if the path is empty, and
 * removes the leftovers of processes that have ended. Does nothing on a file system that cannot be written.
 */
export async function recoverDirectory(directory: string, host: StoreHost = nodeHost()): Promise<void> {
  requireArguments('recoverDirectory', { directory: 'text', host: 'object?' }, directory, host);
  const { files } = host;
  const path = paths().resolve(directory);
  const parent = paths().dirname(path);
  const target = paths().basename(path);
  try {
    const leftovers = await temporaryNames(files, parent, (name) => name === target);
    for (const kind of ['partial', 'replaced'] as const) {
      for (const leftover of leftovers.filter((one) => one.kind === kind)) {
        const aside = paths().join(parent, leftover.name);
        const abandoned = await isAbandoned(host, parent, leftover);
        const wanted = (await statusOf(files, path)) === undefined && (kind === 'replaced' || abandoned);
        if (wanted && (await isIntact(files, aside))) {
          if (await renameIfThere(files, aside, path)) await syncDirectory(files, parent);
        } else if (abandoned) await discard(files, aside);
      }
    }
  } catch (cause) {
    if (!hasCode(cause, 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR')) throw cause;
  }
}

async function requireReplaceable({ files }: StoreHost, path: string): Promise<void> {
  const status = await statusOf(files, path);
  if (status === undefined) return;
  const names = status.isDirectory() ? await namesIn(files, path) : [paths().basename(path)];
  if (status.isDirectory() && names.length === 0) return;
  const sums = status.isDirectory() ? await readChecksums(files, path) : undefined;
  const own = new Set([checksumFile, ...[...(sums?.keys() ?? [])].map((name) => name.split('/')[0])]);
  const foreign = sums === undefined ? names : names.filter((name) => !own.has(name));
  if (foreign.length === 0) return;
  const shown = foreign.slice(0, 3).join(', ') + (foreign.length > 3 ? ', …' : '');
  throw new ArgumentError(
    `${path}: expected nothing or an earlier save, found other files (${shown}) that replacing would delete; ` +
      'choose another path, or move them',
  );
}

/** Whether the path holds an intact save with these checksums. */
async function holds({ files }: StoreHost, path: string, sums: string): Promise<boolean> {
  return (await readText(files, paths().join(path, checksumFile))) === sums && (await isIntact(files, path));
}

/** Exchanges the directory at `path`. `'taken'` means that another writer put one there in between. */
async function putInPlace(host: StoreHost, temporary: string, path: string): Promise<'done' | 'taken'> {
  const { files } = host;
  const before = temporaryPath(host, path, 'replaced');
  const replaces = await renameIfThere(files, path, before);
  try {
    await files.rename(temporary, path);
  } catch (cause) {
    if (hasCode(cause, 'ENOTEMPTY', 'EEXIST')) {
      await discard(files, before);
      return 'taken';
    }
    if (replaces) await renameIfThere(files, before, path).catch(() => undefined);
    throw cause;
  }
  await syncDirectory(files, paths().dirname(path));
  if (replaces) await discard(files, before);
  return 'done';
}
