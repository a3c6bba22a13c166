import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FormatError, RandomStream, retried, settleWithin } from '@rlp/core';
import { exists } from './hub-cache.ts';
import { isPassing } from './hub-errors.ts';

/** A file of a repository. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  /** Git's object id. */
  readonly oid?: string | undefined;
  /** SHA-256 of a large file. */
  readonly lfs?: { readonly oid: string } | undefined;
}

/** How a file is downloaded. */
export interface HubDownload {
  /** Opens the content from a byte on. */
  readonly open: (from: number, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly stallMs: number;
  readonly attempts: number;
  readonly signal?: AbortSignal | undefined;
}

/** Name of a file's content in the cache. */
export function etagOf({ lfs, oid, path }: HubFile): string {
  const etag = lfs?.oid ?? oid;
  if (etag !== undefined && /^[0-9a-f]+$/i.test(etag)) return etag;
  throw new FormatError(`${path}: expected the hub to name an object id, got ${etag}; try again later`);
}

/**
 * Downloads a file to `blob`. What an earlier attempt left in `blob.incomplete` is kept. The content is compared with its checksum.
 */
export async function downloadBlob(file: HubFile, blob: string, download: HubDownload): Promise<void> {
  if (await exists(blob)) return;
  const partial = `${blob}.incomplete`;
  await mkdir(dirname(blob), { recursive: true });
  await persistently(file.path, () => append(file, partial, download), download);
  if (!(await isIntact(file, partial))) {
    await rm(partial, { force: true });
    throw new FormatError(
      `${file.path}: expected ${file.size} bytes with the checksum that the hub names, got others; download it again`,
    );
  }
  await rename(partial, blob);
}

/** Tries again as long as that may help. */
export function persistently<Value>(
  what: string,
  work: () => Promise<Value>,
  { attempts, signal }: Pick<HubDownload, 'attempts' | 'signal'>,
): Promise<Value> {
  return retried(work, {
    attempts,
    backoff: { firstMs: 200, longestMs: 5000 },
    random: () => RandomStream.named('hub', what),
    waitAfter: (error) => (signal?.aborted || !isPassing(error) ? undefined : 0),
    signal,
  });
}

async function append(
  { size }: HubFile,
  partial: string,
  { open: content, stallMs, signal }: HubDownload,
): Promise<void> {
  const have = await stat(partial).then(
    (status) => status.size,
    () => 0,
  );
  if (have > size) await rm(partial);
  const from = have > size ? 0 : have;
  if (from === size) {
    if (size === 0) await (await open(partial, 'a')).close();
    return;
  }
  const controller = new AbortController();
  const limits = { timeoutMs: stallMs, signal };
  const within = <Value>(work: PromiseLike<Value>) => settleWithin(work, controller, limits);
  const file = await open(partial, 'a');
  try {
    let length = from;
    const chunks = (await within(content(from, controller.signal)))[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await within(chunks.next());
      if (done) break;
      await file.writeFile(value);
      // The checksum cannot fit any more, and a source without an end would fill the disk.
      length += value.length;
      if (length > size) break;
    }
    await file.sync();
  } finally {
    controller.abort(new Error('the download ended'));
    await file.close();
  }
}

/** Whether the bytes are those of the hub. Git hashes a header before them. */
async function isIntact({ size, lfs, oid }: HubFile, path: string): Promise<boolean> {
  if ((await stat(path)).size !== size) return false;
  const hash = lfs === undefined ? createHash('sha1').update(`blob ${size}\0`) : createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex') === (lfs?.oid ?? oid);
}
