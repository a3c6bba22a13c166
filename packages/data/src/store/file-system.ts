import { nodeBuiltin, requireArguments } from '@rlp/core';

/** Kind, size and time of a path. */
export interface FileStatus {
  isDirectory(): boolean;
  /** Bytes. */
  readonly size: number;
  /** Last change, in milliseconds by the clock of the file system. */
  readonly mtimeMs: number;
}

/** An open file or directory. Node's `FileHandle` is one. */
export interface OpenFile {
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: null,
  ): Promise<{ readonly bytesRead: number }>;
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** File operations of the store. Node's `fs/promises` has them; tests pass one that injects faults. */
export interface FileSystem {
  lstat(path: string): Promise<FileStatus>;
  readdir(path: string): Promise<string[]>;
  mkdir(path: string): Promise<unknown>;
  rmdir(path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  open(path: string, flags: 'r' | 'r+' | 'wx'): Promise<OpenFile>;
}

/** Bytes per read or write. Small enough that hashing one piece does not hold up the event loop. */
const pieceBytes = 1 << 20;

/** Functions of Node's `path`. Declared here, because Node's types are missing in a page and differ between its versions. */
export interface PathFunctions {
  basename(path: string): string;
  dirname(path: string): string;
  join(...parts: readonly string[]): string;
  resolve(...parts: readonly string[]): string;
}

/** Node's path functions. Not an import, because a tabular policy also loads in a page. */
export const paths = () => nodeBuiltin<PathFunctions>('node:path');

/** Whether an error has one of these system codes. */
export function hasCode(cause: unknown, ...codes: readonly string[]): boolean {
  return cause instanceof Error && 'code' in cause && codes.includes(String(cause.code));
}

/** Names in a directory, sorted. Empty if the directory does not exist. */
export async function namesIn(files: FileSystem, directory: string): Promise<string[]> {
  try {
    return (await files.readdir(directory)).sort();
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return [];
    throw cause;
  }
}

/** What is at a path; `undefined` if nothing is. */
export async function statusOf(files: FileSystem, path: string): Promise<FileStatus | undefined> {
  try {
    return await files.lstat(path);
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw cause;
  }
}

/**
 * Creates a directory and its parents, and flushes the new entries to disk.
 *
 * @throws the system's error for the path that could not be created.
 */
export async function makeDirectories(files: FileSystem, path: string): Promise<void> {
  if ((await statusOf(files, path)) !== undefined) return;
  const parent = paths().dirname(path);
  if (parent !== path) await makeDirectories(files, parent);
  try {
    await files.mkdir(path);
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause;
  }
  await syncDirectory(files, parent);
}

/** Flushes the entries of a directory to disk: new names, renames and removals survive a power loss. */
export async function syncDirectory(files: FileSystem, path: string): Promise<void> {
  let directory: OpenFile;
  try {
    directory = await files.open(path, 'r');
  } catch (cause) {
    // Windows opens no directories. Its file system journals their entries.
    if (hasCode(cause, 'EISDIR', 'EPERM')) return;
    throw cause;
  }
  try {
    await directory.sync();
  } catch (cause) {
    // Some network file systems have nothing to flush.
    if (!hasCode(cause, 'EINVAL', 'ENOTSUP', 'EPERM')) throw cause;
  } finally {
    await directory.close();
  }
}

/** Writes a new file and flushes it to disk. */
export async function writeNewFile(
  files: FileSystem,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const file = await files.open(path, 'wx');
  try {
    await writeFully(file, typeof content === 'string' ? new TextEncoder().encode(content) : content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Writes all bytes at the position of an open file. */
export async function writeFully(file: Pick<OpenFile, 'write'>, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(bytes.length - done, 1 << 30));
    done += bytesWritten;
  }
}

/** Reads a small text file; `undefined` if it does not exist. */
export async function readText(files: FileSystem, path: string): Promise<string | undefined> {
  requireArguments('readText', { files: 'object', path: 'text' }, files, path);
  let file: OpenFile;
  try {
    file = await files.open(path, 'r');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw cause;
  }
  try {
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of piecesOf(file)) text += decoder.decode(piece, { stream: true });
    return text + decoder.decode();
  } finally {
    await file.close();
  }
}

/** Bytes of an open file, piece by piece. A piece is valid until the next one. */
export async function* piecesOf(file: OpenFile): AsyncGenerator<Uint8Array, void, undefined> {
  let buffer = new Uint8Array(1 << 12);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    if (bytesRead === buffer.length && bytesRead < pieceBytes) buffer = new Uint8Array(pieceBytes);
  }
}

/** Removes a file or a directory with its content. Nothing there is not an error. */
export async function removeTree(files: FileSystem, path: string): Promise<void> {
  const status = await statusOf(files, path);
  if (status === undefined) return;
  try {
    if (!status.isDirectory()) return await files.unlink(path);
    for (const name of await namesIn(files, path)) await removeTree(files, paths().join(path, name));
    await files.rmdir(path);
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause;
  }
}
