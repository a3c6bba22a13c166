import { requireArguments } from '@rlp/core';
import { checksumFile, readChecksums } from './checksums.ts';
import { makeDirectories, paths, removeTree, syncDirectory, writeNewFile } from './file-system.ts';
import { nodeHost, type StoreHost } from './host.ts';
import { namedPath } from './named-path.ts';
import { discard, isAbandoned, temporaryNames, temporaryPath } from './temporary-names.ts';

/** Files to write, by path. All are in one directory. Each function writes one file to the path it is given. */
export type FilePlan = ReadonlyMap<string, (temporary: string) => Promise<void>>;

/**
 * Writes files that appear when all are complete, the last of the plan last.
 *
 * Files get temporary names beside their own and are flushed to disk. Then they are renamed in the plan's order. If the
 * others have new names, the last rename exchanges all at once. A failure leaves earlier files unchanged. Temporary files
 * of processes that have ended are removed. A `SHA256SUMS` that lists one of the files no longer fits and is removed.
 *
 * @param obsolete - Earlier files of the directory. They are removed when the new ones are in place.
 * @throws the system's error, such as `ENOSPC`.
 */
export async function writeFiles(
  plan: FilePlan,
  obsolete: readonly string[] = [],
  host: StoreHost = nodeHost(),
): Promise<void> {
  requireArguments(
    'writeFiles',
    { plan: 'object', obsolete: 'texts?', host: 'object?' },
    plan,
    obsolete,
    host,
  );
  const { files } = host;
  const [first] = plan.keys();
  if (first === undefined) return;
  const directory = paths().dirname(first);
  await sweepFiles(host, directory);
  const written = [...plan].map(([path, write]) => ({
    path,
    write,
    temporary: temporaryPath(host, path, 'partial'),
  }));
  try {
    for (const { path, write, temporary } of written) {
      try {
        await write(temporary);
        await flush(host, temporary);
      } catch (cause) {
        throw namedPath(cause, path);
      }
    }
    await dropChecksums(host, directory, [...plan.keys()]);
    for (const [index, { path, temporary }] of written.entries()) {
      if (index > 0 && index === written.length - 1) await syncDirectory(files, directory);
      await files.rename(temporary, path);
    }
    if (obsolete.length > 0) await syncDirectory(files, directory);
    for (const path of obsolete) await removeTree(files, path);
    await syncDirectory(files, directory);
  } finally {
    for (const { temporary } of written) await discard(files, temporary);
  }
}

/**
 * Writes a file of text that appears when it is complete. Makes its directory. A failure leaves an earlier file unchanged.
 *
 * @throws the system's error, such as `ENOSPC`.
 */
export async function writeTextFile(path: string, text: string, host: StoreHost = nodeHost()): Promise<void> {
  requireArguments('writeTextFile', { path: 'text', text: 'text', host: 'object?' }, path, text, host);
  await makeDirectories(host.files, paths().dirname(paths().resolve(path)));
  await writeFiles(new Map([[path, (temporary) => writeNewFile(host.files, temporary, text)]]), [], host);
}

/** Removes the `SHA256SUMS` of a directory if it lists a file that is about to change. */
async function dropChecksums(
  { files }: StoreHost,
  directory: string,
  changing: readonly string[],
): Promise<void> {
  const names = changing.map((path) => paths().basename(path));
  const sums = await readChecksums(files, directory).catch(() => undefined);
  if (!names.some((name) => sums?.has(name))) return;
  await files.unlink(paths().join(directory, checksumFile));
  await syncDirectory(files, directory);
}

async function flush({ files }: StoreHost, path: string): Promise<void> {
  const file = await files.open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Removes temporary files, but not directories, of processes that have ended. */
async function sweepFiles(host: StoreHost, directory: string): Promise<void> {
  for (const leftover of await temporaryNames(host.files, directory, () => true)) {
    const path = paths().join(directory, leftover.name);
    if (leftover.kind !== 'partial' || !(await isAbandoned(host, directory, leftover))) continue;
    if (!(await host.files.lstat(path)).isDirectory()) await discard(host.files, path);
  }
}
