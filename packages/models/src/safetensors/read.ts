import { FormatError, type HostTensor, requireArguments, requireFields } from '@rlp/core';
import * as z from 'zod';
import { parseContent } from '../config/validation.ts';
import { fs, nodePath } from '../node-files.ts';

import { decodeFloats, type FloatType, floatSize } from './floats.ts';
import {
  headerLength,
  parseSafetensorsHeader,
  REMEDY,
  type SafetensorsHeader,
  type StoredTensor,
  safetensorsError,
} from './header.ts';

/** The tensors of a checkpoint, in one file or in shards, opened but not read. */
export interface SafetensorsCheckpoint {
  /** Files that hold the tensors. */
  readonly files: readonly string[];
  /** `__metadata__` of the (first) file. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Location of every tensor. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/** Options for reading weights. */
export interface ReadOptions {
  /** Signal that stops between two pieces of 64 MiB. The promise rejects with its reason. Default none. */
  readonly signal?: AbortSignal | undefined;
}

const CHUNK_BYTES = 1 << 26;

/**
 * Opens a checkpoint. Only headers are read and checked.
 *
 * `path` is a `.safetensors` file, a `.safetensors.index.json` file, or a folder with `model.safetensors` or
 * `model.safetensors.index.json`.
 *
 * @throws FormatError naming the file, the field and a remedy if anything is missing or malformed.
 */
export async function openSafetensors(path: string): Promise<SafetensorsCheckpoint> {
  const file = await checkpointFile(path);
  if (file.endsWith('.json')) return openShards(file);
  const header = await readHeader(file);
  return { files: [file], ...header };
}

/**
 * Reads every tensor of a checkpoint as float32. F32, F16 and BF16 convert exactly.
 *
 * @param path - As for {@link openSafetensors}.
 * @throws FormatError if the checkpoint is malformed or holds a tensor of another type.
 */
export async function readSafetensors(
  path: string,
  options: ReadOptions = {},
): Promise<Map<string, HostTensor>> {
  const { tensors } = await openSafetensors(path);
  return readTensors([...tensors.values()], options);
}

/**
 * Reads the given tensors as float32.
 *
 * @throws FormatError if one is not F32, F16 or BF16, or its file has become shorter.
 */
export async function readTensors(
  tensors: readonly StoredTensor[],
  options: ReadOptions = {},
): Promise<Map<string, HostTensor>> {
  requireArguments('readTensors', { tensors: 'objects', options: 'object?' }, tensors, options);
  for (const tensor of tensors) requireFields('readTensors', { file: 'text' }, tensor);
  const { signal } = options;
  const result = new Map<string, HostTensor>();
  const allocate = slabs(tensors.reduce((sum, tensor) => sum + floatsIn(tensor), 0));
  for (const file of new Set(tensors.map((tensor) => tensor.file))) {
    const handle = await fs().open(file, 'r');
    try {
      for (const tensor of tensors) {
        if (tensor.file !== file) continue;
        result.set(tensor.name, {
          shape: tensor.shape,
          data: await readFloats(bytesOf(handle), tensor, signal, allocate),
        });
      }
    } finally {
      await handle.close();
    }
  }
  return result;
}

/** Reads bytes of a file: fewer than asked for if it ends before. */
export type ReadBytes = (position: number, length: number) => Promise<Uint8Array>;

/** Reads a tensor as float32. @throws FormatError as {@link readTensors}. */
export async function readFloats(
  readBytes: ReadBytes,
  tensor: StoredTensor,
  signal: AbortSignal | undefined,
  allocate = (length: number) => new Float32Array(length),
): Promise<Float32Array> {
  const type = floatType(tensor);
  const data = allocate(floatsIn(tensor));
  const chunk = CHUNK_BYTES / floatSize(type);
  for (let done = 0; done < data.length; done += chunk) {
    signal?.throwIfAborted();
    const part = data.subarray(done, done + chunk);
    const bytes = await readBytes(tensor.offset + done * floatSize(type), part.length * floatSize(type));
    if (bytes.length < part.length * floatSize(type)) {
      throw safetensorsError(tensor.file, tensor.name, 'the file ended while it was read');
    }
    decodeFloats(type, bytes, part);
  }
  return data;
}

/** 64 MiB. The system takes back memory of this size as soon as it is freed. Of smaller pieces, gigabytes stayed with the process. */
const slabLength = 1 << 24;

/** Makes arrays that share buffers of up to 64 MiB. Larger ones have their own. @param total - Numbers that are asked for in all. */
function slabs(total: number): (length: number) => Float32Array<ArrayBuffer> {
  let rest = total;
  let slab = new Float32Array(0);
  return (length) => {
    if (length > slab.length) slab = new Float32Array(Math.max(length, Math.min(slabLength, rest)));
    const taken = slab.subarray(0, length);
    slab = slab.subarray(length);
    rest -= length;
    return taken;
  };
}

function floatsIn(tensor: StoredTensor): number {
  return tensor.length / floatSize(floatType(tensor));
}

/** How a tensor is stored. @throws FormatError if it is not F32, F16 or BF16. */
export function floatType({ type, name, file }: StoredTensor): FloatType {
  if (type === 'F32' || type === 'F16' || type === 'BF16') return type;
  const remedy = 'convert it to float32, float16 or bfloat16 first';
  throw safetensorsError(file, name, `weights must be F32, F16 or BF16, this one is ${type}`, remedy);
}

function bytesOf(handle: Awaited<ReturnType<ReturnType<typeof fs>['open']>>): ReadBytes {
  return async (position, length) => {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  };
}

/** Reads and checks the header of a file. */
export async function parseHeader(
  readBytes: ReadBytes,
  size: number,
  file: string,
): Promise<SafetensorsHeader> {
  const length = headerLength(await readBytes(0, 8), size, file);
  return parseSafetensorsHeader(await readBytes(8, length), size, file);
}

async function readHeader(file: string) {
  const handle = await fs()
    .open(file, 'r')
    .catch((cause: Error) => {
      throw safetensorsError(file, 'file', `cannot be opened (${cause.message})`);
    });
  try {
    const { size } = await handle.stat();
    return await parseHeader(bytesOf(handle), size, file);
  } finally {
    await handle.close();
  }
}

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

async function openShards(index: string): Promise<SafetensorsCheckpoint> {
  const text = await fs()
    .readFile(index, 'utf8')
    .catch((cause: Error) => {
      throw safetensorsError(index, 'file', `cannot be read (${cause.message})`);
    });
  const pathOf = (name: string) => nodePath().join(nodePath().dirname(index), name);
  const { files, ...rest } = await joinShards(index, text, (name) => readHeader(pathOf(name)));
  return { files: files.map(pathOf), ...rest };
}

/**
 * The tensors of the shards that an index names.
 *
 * @param headerOf - Reads the header of a shard.
 * @returns Names of the shards as `files`.
 * @throws FormatError if the index is malformed or a shard lacks a tensor.
 */
export async function joinShards(
  index: string,
  text: string,
  headerOf: (name: string) => Promise<SafetensorsHeader>,
): Promise<SafetensorsCheckpoint> {
  const map = weightMapOf(index, text);
  const names = [...new Set(Object.values(map))];
  for (const name of names) {
    if (/[/\\]/.test(name) || !name.endsWith('.safetensors')) {
      throw safetensorsError(
        index,
        'weight_map',
        `'${name}' is not the name of a safetensors file beside it`,
      );
    }
  }
  const headers = await Promise.all(names.map(headerOf));
  const tensors = new Map<string, StoredTensor>();
  for (const [name, shard] of Object.entries(map)) {
    const tensor = headers[names.indexOf(shard)]!.tensors.get(name);
    if (!tensor) throw safetensorsError(index, `weight_map.${name}`, `${shard} does not hold this tensor`);
    tensors.set(name, tensor);
  }
  return { files: names, metadata: headers[0]?.metadata ?? {}, tensors };
}

function weightMapOf(index: string, text: string): Record<string, string> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw safetensorsError(index, 'file', `not valid JSON (${(cause as Error).message})`);
  }
  const { weight_map: map } = parseContent(indexSchema, json, index, [], REMEDY);
  if (Object.keys(map).length === 0) throw safetensorsError(index, 'weight_map', 'it names no tensors');
  return map;
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'absent'> {
  const status = await fs()
    .stat(path)
    .catch(() => undefined);
  if (!status) return 'absent';
  return status.isDirectory() ? 'folder' : 'file';
}

async function checkpointFile(path: string): Promise<string> {
  const kind = await kindOf(path);
  if (kind === 'absent') throw new FormatError(`${path}: no such file or folder; check the path`);
  if (kind === 'file') return path;
  for (const name of ['model.safetensors', 'model.safetensors.index.json']) {
    if ((await kindOf(nodePath().join(path, name))) === 'file') return nodePath().join(path, name);
  }
  for (const name of [
    'pytorch_model.bin',
    'pytorch_model.bin.index.json',
    'model.pt',
    'consolidated.00.pth',
  ]) {
    if ((await kindOf(nodePath().join(path, name))) === 'absent') continue;
    const remedy = 'convert it with model.save_pretrained(folder, safe_serialization=True) of transformers';
    throw new FormatError(
      `${nodePath().join(path, name)}: pickled weights are not read, because they can run code; ${remedy}`,
    );
  }
  const expected = 'expected model.safetensors or model.safetensors.index.json';
  throw new FormatError(`${path}: ${expected}; download the weights in the safetensors format`);
}
