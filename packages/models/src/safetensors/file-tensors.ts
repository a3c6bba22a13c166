import type { HostTensor } from '@rlp/core';
import { nodeBuiltin, requireArguments, requireFields } from '@rlp/core';
import { decodePieces, floatSize } from './floats.ts';
import { type StoredTensor, safetensorsError } from './header.ts';
import { floatType } from './read.ts';

const files = () => nodeBuiltin<typeof import('node:fs')>('node:fs');

/** Bytes of one reading. The system reads less than 2 GiB at a time. */
const pieceBytes = 2 ** 30;

let closing: FinalizationRegistry<number> | undefined;

/** A file that stays open for as long as one of its tensors is in use, so that it may be removed or replaced meanwhile. */
class OpenFile {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #changedMs: number;

  constructor(path: string) {
    this.#path = path;
    this.#descriptor = files().openSync(path, 'r');
    this.#changedMs = files().fstatSync(this.#descriptor).mtimeMs;
    closing ??= new FinalizationRegistry((descriptor) => files().closeSync(descriptor));
    closing.register(this, this.#descriptor);
  }

  /** @throws FormatError if the file was written to. */
  requireUnchanged(tensor: string): void {
    if (files().fstatSync(this.#descriptor).mtimeMs === this.#changedMs) return;
    throw safetensorsError(this.#path, tensor, 'the file was changed after it was opened', 'load it again');
  }

  /** @throws FormatError if the file ends before. */
  read(bytes: Uint8Array, position: number, tensor: string): void {
    for (let done = 0; done < bytes.length; ) {
      const piece = Math.min(pieceBytes, bytes.length - done);
      const count = files().readSync(this.#descriptor, bytes, done, piece, position + done);
      if (count === 0) throw safetensorsError(this.#path, tensor, 'the file ended while it was read');
      done += count;
    }
  }
}

/** Numbers of a file that are read when they are asked for. */
class FileTensor implements HostTensor {
  readonly shape: readonly number[];
  declare readonly data: Float32Array;
  readonly #file: OpenFile;
  readonly #stored: StoredTensor;
  #kept: Float32Array | undefined;

  constructor(file: OpenFile, stored: StoredTensor) {
    this.shape = stored.shape;
    this.#file = file;
    this.#stored = stored;
    // An own property, so that copies of this object have the numbers.
    Object.defineProperty(this, 'data', { enumerable: true, get: () => this.#keep() });
  }

  copyTo(target: Float32Array, first: number): void {
    if (this.#kept !== undefined) {
      target.set(this.#kept.subarray(first, first + target.length));
      return;
    }
    const type = floatType(this.#stored);
    const { name, offset } = this.#stored;
    const begin = offset + floatSize(type) * first;
    this.#file.requireUnchanged(name);
    if (type === 'F32') {
      this.#file.read(new Uint8Array(target.buffer, target.byteOffset, target.byteLength), begin, name);
    } else {
      decodePieces(type, target, (piece, done) => this.#file.read(piece, begin + done, name));
    }
  }

  #keep(): Float32Array {
    if (this.#kept === undefined) {
      const numbers = new Float32Array(this.#stored.length / floatSize(floatType(this.#stored)));
      this.copyTo(numbers, 0);
      this.#kept = numbers;
    }
    return this.#kept;
  }
}

/**
 * Tensors that stay in their files. Those whose `data` was asked for are kept in memory, `copyTo` keeps nothing.
 *
 * @throws FormatError if one is not F32, F16 or BF16.
 */
export function fileTensors(tensors: readonly StoredTensor[]): Map<string, HostTensor> {
  requireArguments('fileTensors', { tensors: 'objects' }, tensors);
  for (const tensor of tensors) floatType(requireFields('fileTensors', { file: 'text' }, tensor));
  const open = new Map(
    [...new Set(tensors.map(({ file }) => file))].map((file) => [file, new OpenFile(file)]),
  );
  return new Map(tensors.map((tensor) => [tensor.name, new FileTensor(open.get(tensor.file)!, tensor)]));
}
