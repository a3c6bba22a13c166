import { copyFile, mkdir, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { writeTextFile } from '../store/write-files.ts';

/** A repository of the hub. */
export interface HubRepository {
  readonly type: 'dataset' | 'model';
  /** Such as `openai/gsm8k`. */
  readonly name: string;
}

/** The folder of a repository in the cache, as Hugging Face's libraries lay it out: `blobs`, `refs` and `snapshots`. */
export class HubCache {
  readonly directory: string;
  /** Folder of the lease that a download holds. */
  readonly locks: string;

  constructor(cacheDirectory: string, { type, name }: HubRepository) {
    const folder = [`${type}s`, ...name.split('/')].join('--');
    this.directory = join(cacheDirectory, folder);
    this.locks = join(cacheDirectory, '.locks', folder);
  }

  blob(etag: string): string {
    return join(this.directory, 'blobs', etag);
  }

  snapshot(commit: string): string {
    return join(this.directory, 'snapshots', commit);
  }

  /** The commit that a revision had when it was downloaded last. `undefined` if it is not in the cache. */
  async commitOf(revision: string): Promise<string | undefined> {
    if (await exists(this.snapshot(revision))) return revision;
    try {
      const commit = (await readFile(join(this.directory, 'refs', revision), 'utf8')).trim();
      return (await exists(this.snapshot(commit))) ? commit : undefined;
    } catch {
      return undefined;
    }
  }

  async rememberRevision(revision: string, commit: string): Promise<void> {
    if (revision === commit) return;
    await writeTextFile(join(this.directory, 'refs', revision), commit);
  }

  /** Files of a snapshot whose content is there, relative to it. */
  async filesOf(commit: string): Promise<readonly string[]> {
    const folder = this.snapshot(commit);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths: string[] = [];
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isDirectory() && (await exists(path)))
        paths.push(relative(folder, path).split(sep).join('/'));
    }
    return paths;
  }

  /** Puts a file with the content of a blob into a snapshot. It is a link, or a copy where links are not allowed. */
  async link(commit: string, path: string, etag: string): Promise<void> {
    const target = join(this.snapshot(commit), path);
    if (await exists(target)) return;
    await rm(target, { force: true });
    await mkdir(dirname(target), { recursive: true });
    try {
      await symlink(relative(dirname(target), this.blob(etag)), target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
      await copyFile(this.blob(etag), target);
    }
  }
}

/** Whether a file or the target of a link exists. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
