import { EnvironmentError, parseOptions, type SnapshotId } from '@rlp/core';
import * as z from 'zod';

/** Keeps the bytes of snapshots by their content. */
export interface SnapshotStore {
  /** Stores bytes. Equal bytes have equal ids and are kept once. */
  put(bytes: Uint8Array): Promise<SnapshotId>;
  /** The bytes of an id. Rejects with an `EnvironmentError` if they are not there. */
  get(id: SnapshotId): Promise<Uint8Array>;
}

const schema = z.strictObject({
  /** Bytes that are kept. If more are stored, those that were not used for longest are dropped. Default 268435456 (256 MiB). */
  maxBytes: z.int().min(1).default(268_435_456),
});

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions extends z.input<typeof schema> {}

/** A {@link SnapshotStore} in memory. An episode whose snapshot was dropped fails and names the limit. */
export function memoryStore(options: MemoryStoreOptions = {}): SnapshotStore {
  const { maxBytes } = parseOptions('memoryStore', schema, options, 'MemoryStoreOptions');
  const kept = new Map<SnapshotId, Uint8Array>();
  let size = 0;
  const use = (id: SnapshotId, bytes: Uint8Array) => {
    if (!kept.delete(id)) size += bytes.length;
    kept.set(id, bytes);
    for (const [oldest, { length }] of kept) {
      if (size <= maxBytes || oldest === id) break;
      kept.delete(oldest);
      size -= length;
    }
  };
  return {
    async put(bytes) {
      const id = await contentId(bytes);
      use(id, kept.get(id) ?? bytes.slice());
      return id;
    },
    async get(id) {
      const bytes = kept.get(id);
      if (bytes === undefined)
        throw unknownSnapshot(id, `unknown, or dropped because more than ${maxBytes} bytes were kept`);
      use(id, bytes);
      return bytes;
    },
  };
}

/** SHA-256 of the content, as hexadecimal text. */
export async function contentId(bytes: Uint8Array): Promise<SnapshotId> {
  const hash = await globalThis.crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The error for a snapshot that is not there. */
export function unknownSnapshot(id: SnapshotId, why: string): EnvironmentError {
  return new EnvironmentError(`the snapshot ${JSON.stringify(id.slice(0, 80))} is ${why}`);
}
