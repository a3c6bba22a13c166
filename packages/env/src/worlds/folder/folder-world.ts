import { constants } from 'node:fs';
import { lstat, mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  ArgumentError,
  EnvironmentError,
  type OpenWorld,
  parseOptions,
  plural,
  type SnapshotId,
  type Task,
  type World,
} from '@rlp/core';
import * as z from 'zod';
import { memoryStore, type SnapshotStore } from '../snapshot-store.ts';
import { refuseLinks, safePath, strange } from './safe-path.ts';

/** Schema of the options that are data. */
export const folderSchema = z.strictObject({
  /** Folder in which the live folders are made. Default: the system's folder for temporary files. */
  directory: z.string().min(1).default(tmpdir()),
  /** Files that a folder may hold. Default 256. */
  maxFiles: z.int().min(1).default(256),
  /** Bytes of all files of a folder together. Default 4194304 (4 MiB). */
  maxBytes: z.int().min(1).default(4_194_304),
});

/** Files by their paths below the folder. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Options of {@link folderWorld}. */
export interface FolderWorldOptions<Metadata = unknown> extends z.input<typeof folderSchema> {
  /** What the folder of a task holds at first. Default nothing. */
  readonly files?: ((task: Task<Metadata>, seed: number) => Files) | undefined;
  /** Keeps the contents of snapshots. Default: in memory. */
  readonly store?: SnapshotStore | undefined;
}

type Limits = z.output<typeof folderSchema>;

/** A kind of world: a folder on the disk for each episode. Files are kept by their content; empty folders and modes are not kept. */
export function folderWorld<Metadata = unknown>({
  files = () => ({}),
  store = memoryStore(),
  ...options
}: FolderWorldOptions<Metadata> = {}): World<Folder, Metadata> {
  const limits = parseOptions('folderWorld', folderSchema, options, 'FolderWorldOptions');
  const filled = async (
    contents: Iterable<readonly [string, Uint8Array]>,
    signal: AbortSignal | undefined,
  ) => {
    signal?.throwIfAborted();
    const folder = new Folder(await mkdtemp(join(limits.directory, 'rlp-folder-')), limits, store);
    try {
      await folder.fill([...contents]);
      signal?.throwIfAborted();
      return folder;
    } catch (error) {
      await folder.close();
      throw error;
    }
  };
  return {
    open: async (task, seed, signal) => filled(Object.entries(files(task, seed)).map(inBytes), signal),
    restore: async (id, signal) => {
      const manifest = JSON.parse(textOf(await store.get(id))) as [string, SnapshotId][];
      const contents = manifest.map(async ([path, content]) => [path, await store.get(content)] as const);
      return filled(await Promise.all(contents), signal);
    },
  };
}

/** A live folder. Paths are below it, with `/` between their parts. Links are refused. */
export class Folder implements OpenWorld {
  /** Path of the folder on the disk, for programs of yours. What they leave there must be within the limits. */
  readonly root: string;
  readonly #limits: Limits;
  readonly #store: SnapshotStore;

  /** @internal Use {@link folderWorld}. */
  constructor(root: string, limits: Limits, store: SnapshotStore) {
    this.root = root;
    this.#limits = limits;
    this.#store = store;
  }

  /** Paths and sizes of all files, in the order of the paths. */
  async list(): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
    const found: { path: string; bytes: number }[] = [];
    await this.#walk('', async (path) => {
      found.push({ path, bytes: (await lstat(join(this.root, path))).size });
    });
    return found.sort(byPath);
  }

  /** Content of a file. Throws an `ArgumentError` if there is none. */
  async read(path: string): Promise<Uint8Array> {
    const file = await this.#opened(await this.#safe(path), constants.O_RDONLY);
    try {
      const { size } = await file.stat();
      if (size > this.#limits.maxBytes) throw this.#tooLarge(size);
      return new Uint8Array(await file.readFile());
    } finally {
      await file.close();
    }
  }

  /** Writes a file, and the folders that it is in. Throws an `ArgumentError` if it does not fit. */
  async write(path: string, content: string | Uint8Array): Promise<void> {
    const place = await this.#safe(path);
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const others = (await this.list()).filter((file) => file.path !== place);
    this.#requireRoom([...others, { bytes: bytes.length }]);
    await this.#put(place, bytes);
  }

  /** Writes the first files of a new folder. */
  async fill(contents: readonly (readonly [string, Uint8Array])[]): Promise<void> {
    this.#requireRoom(contents.map(([, { length }]) => ({ bytes: length })));
    for (const [path, bytes] of contents) await this.#put(safePath(path), bytes);
  }

  async #put(place: string, bytes: Uint8Array): Promise<void> {
    const { O_WRONLY, O_CREAT, O_TRUNC } = constants;
    await mkdir(dirname(join(this.root, place)), { recursive: true }).catch(() => {
      throw new ArgumentError(`"${place}" lies below a file; choose a path below a folder`);
    });
    const file = await this.#opened(place, O_WRONLY | O_CREAT | O_TRUNC);
    try {
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
  }

  /** Deletes a file. Throws an `ArgumentError` if there is none. */
  async remove(path: string): Promise<void> {
    const place = await this.#safe(path);
    await (await this.#opened(place, constants.O_RDONLY)).close();
    await rm(join(this.root, place));
  }

  async snapshot(signal?: AbortSignal): Promise<SnapshotId> {
    const files = await this.list();
    this.#requireRoom(files);
    const manifest: (readonly [string, SnapshotId])[] = [];
    for (const { path } of files) {
      signal?.throwIfAborted();
      manifest.push([path, await this.#store.put(await this.read(path))]);
    }
    return this.#store.put(new TextEncoder().encode(JSON.stringify(manifest)));
  }

  async close(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }

  async #safe(path: string): Promise<string> {
    const place = safePath(path);
    await refuseLinks(this.root, place);
    return place;
  }

  async #opened(path: string, flags: number) {
    try {
      const file = await open(
        join(this.root, path),
        flags | constants.O_NOFOLLOW | constants.O_NONBLOCK,
        0o600,
      );
      if ((await file.stat()).isFile()) return file;
      await file.close();
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code !== 'ENOENT' && code !== 'EISDIR' && code !== 'ENOTDIR') throw error;
    }
    throw new ArgumentError(`there is no file "${path}"`);
  }

  async #walk(folder: string, visit: (path: string) => Promise<void>): Promise<void> {
    const entries = await readdir(join(this.root, folder), { withFileTypes: true });
    if (entries.length > 2 * this.#limits.maxFiles) throw this.#tooMany(entries.length);
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) await this.#walk(path, visit);
      else if (entry.isFile()) await visit(path);
      else throw strange(path);
    }
  }

  #requireRoom(files: readonly { readonly bytes: number }[]): void {
    const size = files.reduce((sum, { bytes }) => sum + bytes, 0);
    if (files.length > this.#limits.maxFiles) throw this.#tooMany(files.length);
    if (size > this.#limits.maxBytes) throw this.#tooLarge(size);
  }

  #tooLarge(size: number): ArgumentError {
    return new ArgumentError(
      `the folder may hold ${this.#limits.maxBytes} bytes, and this would make ${size}`,
    );
  }

  #tooMany(files: number): ArgumentError {
    return new ArgumentError(
      `the folder may hold ${plural(this.#limits.maxFiles, 'file')}, and this would make ${files}`,
    );
  }
}

function inBytes([path, content]: readonly [string, string | Uint8Array]): readonly [string, Uint8Array] {
  return [path, typeof content === 'string' ? new TextEncoder().encode(content) : content];
}

/** Text of bytes. Throws an `EnvironmentError` if they are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new EnvironmentError('expected UTF-8 text, got other bytes');
  }
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}
