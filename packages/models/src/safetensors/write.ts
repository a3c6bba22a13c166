import type { FileHandle } from 'node:fs/promises';
import { ArgumentError, type HostTensor, parseOptions, type Weights } from '@rlp/core';
import * as z from 'zod';
import { fs, nodePath } from '../node-files.ts';

import { encodeFloats, floatSize } from './floats.ts';

const optionsSchema = z.strictObject({
  /** Type of every stored tensor. `'F16'` and `'BF16'` round to nearest, ties to even. Default `'F32'`. */
  dtype: z.enum(['F32', 'F16', 'BF16']).default('F32'),
  /** Strings stored in the header. transformers requires `format`. Default `{ format: 'pt' }`. */
  metadata: z.record(z.string(), z.string()).readonly().default({ format: 'pt' }),
  /** Maximum bytes of tensor data per file. Larger checkpoints are split into shards with an index. Default no limit. */
  maxShardBytes: z.number().positive().default(Number.POSITIVE_INFINITY),
  /** Signal that stops between two tensors and leaves no unfinished file. The promise rejects with its reason. Default none. */
  signal: z.instanceof(AbortSignal).optional(),
});

/** Options of {@link writeSafetensors}. */
export interface WriteSafetensorsOptions extends z.input<typeof optionsSchema> {}

type Settings = z.output<typeof optionsSchema>;
type NamedTensor = readonly [name: string, tensor: HostTensor];

/** Files to write, by path. Each function writes one file to the path it is given. */
export type FilePlan = ReadonlyMap<string, (temporary: string) => Promise<void>>;

/**
 * Writes tensors to `path`, or to `…-00001-of-0000N.safetensors` shards with an index beside it.
 *
 * Tensors are sorted by name, so equal weights give equal bytes. Files are written under temporary names and renamed when the
 * last is complete. So nobody reads half a file, and a failure leaves the earlier files unchanged.
 *
 * @param path - Ends in `.safetensors`.
 * @returns Paths of the files written, the index included.
 * @throws ArgumentError if a tensor's data does not fit its shape, OptionsError for bad options.
 */
export async function writeSafetensors(
  path: string,
  tensors: Weights,
  options: WriteSafetensorsOptions = {},
): Promise<readonly string[]> {
  const plan = planSafetensors(path, tensors, options);
  await writeAtomically(plan);
  return [...plan.keys()];
}

/** Plans the files of {@link writeSafetensors}, the index last. Throws as it does. */
export function planSafetensors(path: string, tensors: Weights, options: WriteSafetensorsOptions): FilePlan {
  const settings = parseOptions('writeSafetensors', optionsSchema, options);
  if (!path.endsWith('.safetensors')) {
    throw new ArgumentError(`writeSafetensors: expected a path ending in .safetensors, got '${path}'`);
  }
  for (const [name, tensor] of tensors) checkTensor(name, tensor);
  const sorted = [...tensors].sort(([a], [b]) => (a < b ? -1 : 1));
  const shards = intoShards(sorted, settings);
  if (shards.length > 1) return planShards(path, shards, settings);
  return new Map([[path, (temporary) => writeTensors(temporary, sorted, settings)]]);
}

function checkTensor(name: string, { shape, data }: HostTensor): void {
  if (name === '__metadata__') {
    throw new ArgumentError(
      `writeSafetensors: the format keeps the name ${name} for itself; rename the tensor`,
    );
  }
  const sizes = shape.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (sizes && shape.reduce((product, size) => product * size, 1) === data.length) return;
  throw new ArgumentError(`writeSafetensors: ${name} has shape [${shape}] but ${data.length} values`);
}

/** Writes files under temporary names beside their own, then renames them all. Temporary files never survive. */
export async function writeAtomically(plan: FilePlan): Promise<void> {
  const files = [...plan].map(([path, write]) => {
    return {
      path,
      write,
      temporary: nodePath().join(
        nodePath().dirname(path),
        `.${nodePath().basename(path)}.${crypto.randomUUID()}.tmp`,
      ),
    };
  });
  try {
    for (const { write, temporary } of files) await write(temporary);
    for (const { path, temporary } of files) await fs().rename(temporary, path);
  } finally {
    for (const { temporary } of files) await fs().rm(temporary, { force: true });
  }
}

function intoShards(tensors: readonly NamedTensor[], { dtype, maxShardBytes }: Settings): NamedTensor[][] {
  const shards: NamedTensor[][] = [];
  let room = 0;
  for (const tensor of tensors) {
    const bytes = tensor[1].data.length * floatSize(dtype);
    if (shards.length === 0 || bytes > room) {
      shards.push([]);
      room = maxShardBytes;
    }
    shards.at(-1)!.push(tensor);
    room -= bytes;
  }
  return shards;
}

function planShards(path: string, shards: readonly NamedTensor[][], settings: Settings): FilePlan {
  const five = (n: number) => String(n).padStart(5, '0');
  const stem = nodePath().basename(path, '.safetensors');
  const plan = new Map<string, (temporary: string) => Promise<void>>();
  const homes = new Map<string, string>();
  let total = 0;
  for (const [index, shard] of shards.entries()) {
    const name = `${stem}-${five(index + 1)}-of-${five(shards.length)}.safetensors`;
    plan.set(nodePath().join(nodePath().dirname(path), name), (temporary) =>
      writeTensors(temporary, shard, settings),
    );
    for (const [tensor, { data }] of shard) {
      homes.set(tensor, name);
      total += data.length * floatSize(settings.dtype);
    }
  }
  const index = { metadata: { total_size: total }, weight_map: Object.fromEntries(homes) };
  plan.set(`${path}.index.json`, (temporary) =>
    fs().writeFile(temporary, `${JSON.stringify(index, null, 2)}\n`),
  );
  return plan;
}

async function writeTensors(
  path: string,
  tensors: readonly NamedTensor[],
  settings: Settings,
): Promise<void> {
  const handle = await fs().open(path, 'w');
  try {
    await writeFully(handle, headerBytes(tensors, settings));
    for (const [, { data }] of tensors) {
      settings.signal?.throwIfAborted();
      await writeFully(handle, encodeFloats(settings.dtype, data));
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Header length and JSON. Spaces pad it so that the data begins at a multiple of 8 bytes. */
function headerBytes(tensors: readonly NamedTensor[], { dtype, metadata }: Settings): Uint8Array {
  const header = new Map<string, unknown>([['__metadata__', metadata]]);
  let position = 0;
  for (const [name, { shape, data }] of tensors) {
    const end = position + data.length * floatSize(dtype);
    header.set(name, { dtype, shape, data_offsets: [position, end] });
    position = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  const bytes = new Uint8Array(8 + Math.ceil(json.length / 8) * 8).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(bytes.length - 8), true);
  bytes.set(json, 8);
  return bytes;
}

async function writeFully(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, Math.min(bytes.length - done, 1 << 30));
    done += bytesWritten;
  }
}
