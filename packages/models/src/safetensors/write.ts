import {
  ArgumentError,
  abortSignal,
  type HostTensor,
  numbersOf,
  parseOptions,
  requireArguments,
  type Weights,
} from '@rlp/core';
import {
  type FilePlan,
  type FileSystem,
  nodeHost,
  type OpenFile,
  readText,
  type StoreHost,
  writeFiles,
  writeFully,
} from '@rlp/data/store';
import * as z from 'zod';
import { nodePath } from '../node-files.ts';

import { encodeFloats, floatSize } from './floats.ts';

const optionsSchema = z.strictObject({
  /** Type of every stored tensor. `'F16'` and `'BF16'` round to nearest, ties to even. Default `'F32'`. */
  dtype: z.enum(['F32', 'F16', 'BF16']).default('F32'),
  /** Strings stored in the header. transformers requires `format`. Default `{ format: 'pt' }`. */
  metadata: z.record(z.string(), z.string()).readonly().default({ format: 'pt' }),
  /** Maximum bytes of tensor data per file. Larger checkpoints are split into shards with an index. Default no limit. */
  maxShardBytes: z.number().positive().default(Number.POSITIVE_INFINITY),
  /** Signal that stops between two tensors and leaves no unfinished file. The promise rejects with its reason. Default none. */
  signal: abortSignal.optional(),
});

/** Options of {@link writeSafetensors}. */
export interface WriteSafetensorsOptions extends z.input<typeof optionsSchema> {}

type Settings = z.output<typeof optionsSchema>;
type NamedTensor = readonly [name: string, tensor: HostTensor];

/**
 * Writes tensors to `path`, or to `…-00001-of-0000N.safetensors` shards with an index beside it.
 *
 * Tensors are sorted by name, so equal weights give equal bytes. The files are flushed to disk and appear when all are
 * complete. Shards never take the names of earlier ones: those of a second save begin with `…-2-00001`. So a program that reads
 * sees the earlier tensors or the new ones, also after a crash. Earlier shards are then removed.
 *
 * @param path - Ends in `.safetensors`.
 * @returns Paths of the files written, the index last.
 * @throws ArgumentError if a tensor's data does not fit its shape, OptionsError for bad options.
 */
export function writeSafetensors(
  path: string,
  tensors: Weights,
  options: WriteSafetensorsOptions = {},
): Promise<readonly string[]> {
  requireArguments(
    'writeSafetensors',
    { path: 'text', tensors: 'object', options: 'object?' },
    path,
    tensors,
    options,
  );
  return writeSafetensorsOn(nodeHost(), path, tensors, options);
}

/** {@link writeSafetensors} with the file system of a host. */
export async function writeSafetensorsOn(
  host: StoreHost,
  path: string,
  tensors: Weights,
  options: WriteSafetensorsOptions = {},
): Promise<readonly string[]> {
  const earlier = await earlierFiles(host, path);
  const plan = await planSafetensors(host.files, path, tensors, options);
  const written = new Set([...plan.keys()].map((file) => nodePath().basename(file)));
  const obsolete = earlier
    .filter((name) => !written.has(name))
    .map((name) => nodePath().join(nodePath().dirname(path), name));
  await writeFiles(plan, obsolete, host);
  return [...plan.keys()];
}

/** Age in milliseconds after which shards that no index names are removed. A saver may still be writing younger ones. */
const abandonedAfterMs = 86_400_000;

/** Names of an earlier save at a path: the file itself, the index, its shards, and shards that a crash left. */
async function earlierFiles({ files, now }: StoreHost, path: string): Promise<string[]> {
  const folder = nodePath().dirname(path);
  const index = (await readText(files, `${path}.index.json`)) ?? '';
  const earlier: string[] = [];
  for (const name of await files.readdir(folder)) {
    const file = nodePath().basename(path);
    const isWhole = name === file || name === `${file}.index.json`;
    const isAbandoned = async () => {
      const status = await files.lstat(nodePath().join(folder, name)).catch(() => undefined);
      return status !== undefined && now() - status.mtimeMs > abandonedAfterMs;
    };
    if (isWhole || (isShard(name, path) && (index.includes(`"${name}"`) || (await isAbandoned())))) {
      earlier.push(name);
    }
  }
  return earlier;
}

/** Plans the files of {@link writeSafetensors}, the index last. Throws as it does. */
async function planSafetensors(
  files: FileSystem,
  path: string,
  tensors: Weights,
  options: WriteSafetensorsOptions,
): Promise<FilePlan> {
  const settings = parseOptions('writeSafetensors', optionsSchema, options);
  if (!path.endsWith('.safetensors')) {
    throw new ArgumentError(`writeSafetensors: expected a path ending in .safetensors, got '${path}'`);
  }
  for (const [name, tensor] of tensors) checkTensor(name, tensor);
  const sorted = [...tensors].sort(([a], [b]) => (a < b ? -1 : 1));
  const shards = intoShards(sorted, settings);
  if (shards.length > 1) return planShards(files, path, shards, settings);
  return new Map([[path, (temporary) => writeTensors(files, temporary, sorted, settings)]]);
}

function checkTensor(name: string, tensor: HostTensor): void {
  const { shape } = tensor;
  if (name === '__metadata__') {
    throw new ArgumentError(
      `writeSafetensors: the format keeps the name ${name} for itself; rename the tensor`,
    );
  }
  const sizes = shape.every((size) => Number.isSafeInteger(size) && size >= 0);
  if (sizes && (tensor.copyTo !== undefined || sizeOf(tensor) === tensor.data.length)) return;
  throw new ArgumentError(
    `writeSafetensors: ${name} has shape [${shape}] but ${tensor.data.length} values; both must agree`,
  );
}

function sizeOf({ shape }: HostTensor): number {
  return shape.reduce((product, size) => product * size, 1);
}

function intoShards(tensors: readonly NamedTensor[], { dtype, maxShardBytes }: Settings): NamedTensor[][] {
  const shards: NamedTensor[][] = [];
  let room = 0;
  for (const tensor of tensors) {
    const bytes = sizeOf(tensor[1]) * floatSize(dtype);
    if (shards.length === 0 || bytes > room) {
      shards.push([]);
      room = maxShardBytes;
    }
    shards.at(-1)!.push(tensor);
    room -= bytes;
  }
  return shards;
}

const five = (n: number) => String(n).padStart(5, '0');

async function planShards(
  files: FileSystem,
  path: string,
  shards: readonly NamedTensor[][],
  settings: Settings,
): Promise<FilePlan> {
  const stem = await claimStem(files, path, shards.length);
  const plan = new Map<string, (temporary: string) => Promise<void>>();
  const homes = new Map<string, string>();
  let total = 0;
  for (const [index, shard] of shards.entries()) {
    const file = `${stem}-${five(index + 1)}-of-${five(shards.length)}.safetensors`;
    plan.set(nodePath().join(nodePath().dirname(path), file), (temporary) =>
      writeTensors(files, temporary, shard, settings),
    );
    for (const [name, tensor] of shard) {
      homes.set(name, file);
      total += sizeOf(tensor) * floatSize(settings.dtype);
    }
  }
  const index = { metadata: { total_size: total }, weight_map: Object.fromEntries(homes) };
  const text = `${JSON.stringify(index, null, 2)}\n`;
  plan.set(`${path}.index.json`, (temporary) =>
    writeBytes(files, temporary, async (file) => writeFully(file, new TextEncoder().encode(text))),
  );
  return plan;
}

/**
 * Name of a path without its extension, with a number from 2 on while others have the name.
 *
 * Creating the first shard claims the name, so two savers never share one.
 */
async function claimStem(files: FileSystem, path: string, shards: number): Promise<string> {
  const stem = nodePath().basename(path, '.safetensors');
  for (let revision = 1; ; revision++) {
    const candidate = revision === 1 ? stem : `${stem}-${revision}`;
    const names = await files.readdir(nodePath().dirname(path));
    const others = names.filter((name) => isShard(name, path) && name.startsWith(`${candidate}-00`));
    if (others.length > 0) continue;
    const first = `${candidate}-${five(1)}-of-${five(shards)}.safetensors`;
    try {
      await writeBytes(files, nodePath().join(nodePath().dirname(path), first), async () => undefined);
      return candidate;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
  }
}

/** Whether a file name is that of a shard of a path. */
function isShard(name: string, path: string): boolean {
  const stem = nodePath().basename(path, '.safetensors');
  return name.startsWith(stem) && /^(-\d+)?-\d{5}-of-\d{5}\.safetensors$/.test(name.slice(stem.length));
}

function writeTensors(
  files: FileSystem,
  path: string,
  tensors: readonly NamedTensor[],
  settings: Settings,
): Promise<void> {
  return writeBytes(files, path, async (file) => {
    await writeFully(file, headerBytes(tensors, settings));
    for (const [, tensor] of tensors) {
      settings.signal?.throwIfAborted();
      await writeFully(file, encodeFloats(settings.dtype, numbersOf(tensor)));
    }
  });
}

async function writeBytes(
  files: FileSystem,
  path: string,
  write: (file: OpenFile) => Promise<void>,
): Promise<void> {
  const file = await files.open(path, 'wx');
  try {
    await write(file);
  } finally {
    await file.close();
  }
}

/**
 * The bytes that {@link writeSafetensors} writes into one file, in pieces.
 *
 * @throws ArgumentError if a tensor's data does not fit its shape.
 */
export function safetensorsPieces(
  tensors: Weights,
  options: Pick<WriteSafetensorsOptions, 'dtype'> = {},
): Uint8Array[] {
  const settings = parseOptions('writeSafetensors', optionsSchema, options);
  for (const [name, tensor] of tensors) checkTensor(name, tensor);
  const sorted = [...tensors].sort(([a], [b]) => (a < b ? -1 : 1));
  const bodies = sorted.map(([, tensor]) => encodeFloats(settings.dtype, numbersOf(tensor)));
  return [headerBytes(sorted, settings), ...bodies];
}

/** Header length and JSON. Spaces pad it so that the data begins at a multiple of 8 bytes. */
function headerBytes(tensors: readonly NamedTensor[], { dtype, metadata }: Settings): Uint8Array {
  const header = new Map<string, unknown>([['__metadata__', metadata]]);
  let position = 0;
  for (const [name, tensor] of tensors) {
    const { shape } = tensor;
    const end = position + sizeOf(tensor) * floatSize(dtype);
    header.set(name, { dtype, shape, data_offsets: [position, end] });
    position = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  const bytes = new Uint8Array(8 + Math.ceil(json.length / 8) * 8).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(bytes.length - 8), true);
  bytes.set(json, 8);
  return bytes;
}
