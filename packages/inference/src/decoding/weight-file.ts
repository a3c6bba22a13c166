import { nodeBuiltin } from '@rlp/core';
import { nodeHost } from '@rlp/data/store';
import type { ExternalData } from '@rlp/onnx';

const files = () => nodeBuiltin<typeof import('node:fs')>('node:fs');

/** Smaller tensors are part of the graph. */
const smallestBytes = 2 ** 18;

/** Offsets in the file are multiples of a page, so that each tensor is mapped alone. */
const pageBytes = 4096;

const fileName = 'weights';

/**
 * Large tensors of a graph in a temporary file while the graph is compiled.
 *
 * ONNX Runtime maps them one by one and keeps only what it packs of them. Of tensors inside a graph it keeps another copy, and two more
 * exist while the graph is compiled.
 */
export class WeightFile {
  #open: { readonly folder: string; readonly descriptor: number } | undefined;
  #length = 0;

  /** The folder of the file. `undefined` while there is none. */
  get folder(): string | undefined {
    return this.#open?.folder;
  }

  /** The tensor's offset in the file, or its bytes if they are few or cannot be written. */
  place<Bytes extends ArrayBufferView>(tensor: Bytes): Bytes | ExternalData {
    if (tensor.byteLength < smallestBytes) return tensor;
    try {
      return this.#append(tensor);
    } catch {
      // Without a place for temporary files, as in a page, more memory is needed and nothing else changes.
      return tensor;
    }
  }

  /** Removes the file. Mapped tensors stay. Windows cannot remove a mapped file, so there the system's clean-up does it. */
  remove(): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    files().closeSync(open.descriptor);
    removeQuietly(open.folder);
  }

  #append({ buffer, byteOffset, byteLength }: ArrayBufferView): ExternalData {
    this.#open ??= openTemporary();
    const offset = Math.ceil(this.#length / pageBytes) * pageBytes;
    for (let done = 0; done < byteLength; ) {
      const rest = new Uint8Array(buffer, byteOffset + done, byteLength - done);
      done += files().writeSync(this.#open.descriptor, rest, 0, rest.length, offset + done);
    }
    this.#length = offset + byteLength;
    return { file: fileName, offset, length: byteLength };
  }
}

/** Folder of a process, named with its machine, number and start. */
const folderPattern = /^rlp-weights-([0-9a-f]{8})-(\d+)-(\d+)-/;

/** Age in milliseconds after which a folder of another machine or boot is swept. */
const abandonedAfterMs = 86_400_000;

function openTemporary() {
  const { join } = nodeBuiltin<typeof import('node:path')>('node:path');
  const { tmpdir } = nodeBuiltin<typeof import('node:os')>('node:os');
  const { machine, pid, started } = nodeHost().self;
  for (const name of files().readdirSync(tmpdir())) {
    if (isAbandoned(name, join(tmpdir(), name))) removeQuietly(join(tmpdir(), name));
  }
  const folder = files().mkdtempSync(join(tmpdir(), `rlp-weights-${machine}-${pid}-${started}-`));
  return { folder, descriptor: files().openSync(join(folder, fileName), 'w') };
}

/** Whether a folder belongs to a process that was killed while it compiled. */
function isAbandoned(name: string, path: string): boolean {
  const [, machine, pid, started] = folderPattern.exec(name) ?? [];
  if (machine === undefined) return false;
  const owner = { host: '', machine, pid: Number(pid), started: Number(started) };
  const liveness = nodeHost().liveness(owner);
  if (liveness !== 'unknown') return liveness === 'dead';
  const status = files().statSync(path, { throwIfNoEntry: false });
  return status !== undefined && nodeHost().now() - status.mtimeMs > abandonedAfterMs;
}

/** Ignores errors, because the sampler works if the folder stays. */
function removeQuietly(folder: string): void {
  try {
    files().rmSync(folder, { recursive: true, force: true });
  } catch {}
}
