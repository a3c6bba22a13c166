import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contentId, type SnapshotStore, unknownSnapshot } from '../snapshot-store.ts';

/**
 * A {@link SnapshotStore} in a folder. Snapshots outlive the process, so that a stored episode can go on. Nothing is deleted.
 *
 * @param directory - Is made if it does not exist.
 */
export function folderStore(directory: string): SnapshotStore {
  return {
    async put(bytes) {
      const id = await contentId(bytes);
      await mkdir(directory, { recursive: true });
      const temporary = join(directory, `${id}.${globalThis.crypto.randomUUID()}`);
      await writeFile(temporary, bytes);
      await rename(temporary, join(directory, id));
      return id;
    },
    async get(id) {
      const bytes = /^[0-9a-f]{64}$/.test(id)
        ? await readFile(join(directory, id)).catch(() => undefined)
        : undefined;
      if (bytes === undefined) throw unknownSnapshot(id, `not in ${directory}`);
      return new Uint8Array(bytes);
    },
  };
}
