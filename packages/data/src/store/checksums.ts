import { ArgumentError, FormatError, nodeBuiltin, requireArguments, requireFields } from '@rlp/core';
import {
  type FileSystem,
  namesIn,
  paths,
  piecesOf,
  readText,
  statusOf,
  syncDirectory,
  writeNewFile,
} from './file-system.ts';
import { nodeHost, type StoreHost } from './host.ts';

/** File with the SHA-256 of every other file of a directory. `sha256sum --check SHA256SUMS` reads it. */
export const checksumFile = 'SHA256SUMS';

/** Checksums by path relative to the directory, with `/` between the parts. */
export type Checksums = ReadonlyMap<string, string>;

/**
 * Flushes every file of a directory to disk, then writes `SHA256SUMS`. A directory with that file is complete.
 *
 * Directories inside that have a `SHA256SUMS` are on disk already. Their checksums are copied.
 *
 * @returns Content of `SHA256SUMS`.
 * @throws ArgumentError if the directory has one, because it was complete before this call.
 */
export async function sealDirectory(files: FileSystem, directory: string): Promise<string> {
  if ((await statusOf(files, paths().join(directory, checksumFile))) !== undefined) {
    throw new ArgumentError(
      `${directory}: another save is complete here already; let each save have a directory of its own`,
    );
  }
  const sums = new Map<string, string>();
  await sealInside(files, directory, '', sums);
  const lines = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`);
  const text = lines.join('');
  await writeNewFile(files, paths().join(directory, checksumFile), text);
  await syncDirectory(files, directory);
  return text;
}

async function sealInside(
  files: FileSystem,
  directory: string,
  prefix: string,
  sums: Map<string, string>,
): Promise<void> {
  for (const name of await namesIn(files, directory)) {
    if (/[\n\r]/.test(name)) {
      throw new ArgumentError(`${directory}: a file name has a line break; rename ${JSON.stringify(name)}`);
    }
    const path = paths().join(directory, name);
    if (!(await files.lstat(path)).isDirectory()) {
      sums.set(prefix + name, await hashFile(files, path, 'flush'));
      continue;
    }
    const inner = await readChecksums(files, path);
    if (inner === undefined) {
      await sealInside(files, path, `${prefix}${name}/`, sums);
      await syncDirectory(files, path);
      continue;
    }
    for (const [file, sum] of inner) sums.set(`${prefix}${name}/${file}`, sum);
    const own = paths().join(path, checksumFile);
    sums.set(`${prefix}${name}/${checksumFile}`, await hashFile(files, own, 'flush'));
  }
}

/**
 * Reads `SHA256SUMS` of a directory; `undefined` if there is none.
 *
 * @throws FormatError for a line that is not a checksum.
 */
export async function readChecksums(files: FileSystem, directory: string): Promise<Checksums | undefined> {
  const path = paths().join(directory, checksumFile);
  const text = await readText(files, path);
  return text === undefined ? undefined : parseChecksums(text, path);
}

function parseChecksums(text: string, path: string): Checksums {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [, sum, name] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined || name.split('/').includes('..')) {
      throw new FormatError(
        `${path}: expected lines of a SHA-256 and a file name, got ${JSON.stringify(line)}; save again`,
      );
    }
    sums.set(name, sum);
  }
  if (text !== '' && !text.endsWith('\n')) {
    throw new FormatError(`${path}: the last line is cut short; save again`);
  }
  return sums;
}

/** Options of {@link verifyDirectory}. */
export interface VerifyOptions {
  /**
   * `'skip'` leaves out directories that have their own `SHA256SUMS`, because what reads them checks them. Default
   * `'check'`.
   */
  readonly inside?: 'check' | 'skip' | undefined;
  /** Which files to compare, by path relative to the directory. Default all. */
  readonly only?: RegExp | undefined;
}

/**
 * Compares the files of a directory with its `SHA256SUMS`. A directory without that file passes, because other
 * tools do not write it.
 *
 * @throws FormatError naming the first file that is missing or differs.
 */
export async function verifyDirectory(
  directory: string,
  options: VerifyOptions = {},
  settings: Pick<StoreHost, 'files'> = nodeHost(),
): Promise<void> {
  requireArguments('verifyDirectory', { directory: 'text', options: 'object?' }, directory, options);
  requireFields('verifyDirectory', { files: 'object' }, settings);
  const { files } = settings;
  for await (const problem of damagedFiles(files, directory, options)) throw new FormatError(problem);
}

/** A sentence for each file of a directory that is missing or differs from its `SHA256SUMS`. */
export async function* damagedFiles(
  files: FileSystem,
  directory: string,
  { inside = 'check', only = /^/ }: VerifyOptions = {},
): AsyncGenerator<string, void, undefined> {
  const sums = await readChecksums(files, directory);
  if (sums === undefined) return;
  const sealed = [...sums.keys()]
    .filter((name) => name.endsWith(`/${checksumFile}`))
    .map((name) => name.slice(0, -checksumFile.length));
  for (const [name, sum] of sums) {
    const isInside = sealed.some((prefix) => name.startsWith(prefix) && name !== prefix + checksumFile);
    if (!only.test(name) || (inside === 'skip' && isInside)) continue;
    const path = paths().join(directory, ...name.split('/'));
    if ((await statusOf(files, path)) === undefined) {
      yield `${path}: the file is missing, and ${checksumFile} lists it; save again, or delete ${directory}`;
    } else if ((await hashFile(files, path)) !== sum) {
      yield `${path}: the file differs from its SHA-256 in ${checksumFile}, so it is damaged or was edited; ` +
        `save again, or delete ${checksumFile} if you edited the file`;
    }
  }
}

/** Whether a directory has a `SHA256SUMS` and all files fit it. */
export async function isIntact(files: FileSystem, directory: string): Promise<boolean> {
  try {
    if ((await readChecksums(files, directory)) === undefined) return false;
    await verifyDirectory(directory, {}, { files });
    return true;
  } catch (cause) {
    if (cause instanceof FormatError) return false;
    throw cause;
  }
}

async function hashFile(files: FileSystem, path: string, then?: 'flush'): Promise<string> {
  const hash = nodeBuiltin<typeof import('node:crypto')>('node:crypto').createHash('sha256');
  const { platform } = nodeBuiltin<NodeJS.Process>('node:process');
  // Windows flushes only files that are open for writing.
  const file = await files.open(path, then === 'flush' && platform === 'win32' ? 'r+' : 'r');
  try {
    for await (const piece of piecesOf(file)) hash.update(piece);
    if (then === 'flush') await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}
