import { elementCount } from '@rlp/onnx';
import { fs } from '../../node-files.ts';
import { encodedSize, encodeValues, type GgufType, typeCodes } from './quantize.ts';

/** A value of a GGUF file's metadata, with its type. */
export type GgufValue =
  | { readonly type: 'uint32' | 'float32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'int32s' | 'float32s'; readonly value: readonly number[] };

/** A tensor to write. */
export interface GgufTensor {
  readonly name: string;
  /** Outermost first, as everywhere else. The file has them in reverse. */
  readonly shape: readonly number[];
  readonly type: GgufType;
  /** Returns the values when their turn comes, so that only one tensor is copied at a time. */
  readonly values: () => Float32Array;
}

/** Content of a GGUF file. */
export interface GgufContent {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
}

const version = 3;
const alignment = 32;
const kinds = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const aligned = (size: number) => Math.ceil(size / alignment) * alignment;

/**
 * Writes a GGUF file.
 *
 * @see https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export async function writeGguf(
  path: string,
  { metadata, tensors }: GgufContent,
  signal: AbortSignal | undefined,
): Promise<void> {
  const file = await fs().open(path, 'wx');
  try {
    await file.writeFile(header(metadata, tensors));
    for (const { type, values } of tensors) {
      signal?.throwIfAborted();
      const bytes = encodeValues(type, values());
      await file.writeFile(bytes);
      await file.writeFile(new Uint8Array(aligned(bytes.length) - bytes.length));
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Everything before the tensors' values, padded to where they begin. */
function header(metadata: ReadonlyMap<string, GgufValue>, tensors: readonly GgufTensor[]): Uint8Array {
  const bytes = new ByteList();
  bytes.push(new TextEncoder().encode('GGUF'));
  bytes.uint32(version).uint64(tensors.length).uint64(metadata.size);
  for (const [key, value] of metadata) writeValue(bytes.string(key), value);
  let offset = 0;
  for (const { name, shape, type } of tensors) {
    bytes.string(name).uint32(shape.length);
    for (const size of shape.toReversed()) bytes.uint64(size);
    bytes.uint32(typeCodes[type]).uint64(offset);
    offset += aligned(encodedSize(type, elementCount(shape)));
  }
  bytes.push(new Uint8Array(aligned(bytes.length) - bytes.length));
  return bytes.joined();
}

function writeValue(bytes: ByteList, given: GgufValue): void {
  switch (given.type) {
    case 'strings':
      bytes.uint32(kinds.array).uint32(kinds.string).uint64(given.value.length);
      for (const text of given.value) bytes.string(text);
      return;
    case 'int32s':
      bytes.uint32(kinds.array).uint32(kinds.int32).uint64(given.value.length);
      bytes.push(new Uint8Array(Int32Array.from(given.value).buffer));
      return;
    case 'float32s':
      bytes.uint32(kinds.array).uint32(kinds.float32).uint64(given.value.length);
      bytes.push(new Uint8Array(Float32Array.from(given.value).buffer));
      return;
    case 'string':
      bytes.uint32(kinds.string).string(given.value);
      return;
    case 'bool':
      bytes.uint32(kinds.bool).push(Uint8Array.of(given.value ? 1 : 0));
      return;
    case 'float32':
      bytes.uint32(kinds.float32).push(new Uint8Array(Float32Array.of(given.value).buffer));
      return;
    default:
      bytes.uint32(kinds.uint32).uint32(given.value);
  }
}

/** Bytes that are collected, little-endian. */
class ByteList {
  readonly #parts: Uint8Array[] = [];
  length = 0;

  push(bytes: Uint8Array): this {
    this.#parts.push(bytes);
    this.length += bytes.length;
    return this;
  }

  uint32(value: number): this {
    return this.push(new Uint8Array(Uint32Array.of(value).buffer));
  }

  uint64(value: number): this {
    return this.push(new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
  }

  string(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.uint64(bytes.length).push(bytes);
  }

  joined(): Uint8Array {
    const all = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
