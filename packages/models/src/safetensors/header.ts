import { FormatError } from '@rlp/core';
import * as z from 'zod';
import { parseContent } from '../config/validation.ts';

/** Bits of one element of every type the safetensors format defines. */
const ELEMENT_BITS = {
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  F64: 64,
  I64: 64,
  U64: 64,
  C64: 64,
} as const;

/** Element type of a stored tensor, in the format's spelling. */
export type StoredType = keyof typeof ELEMENT_BITS;

/** Location of a tensor in a file, enough to map it without reading it. */
export interface StoredTensor {
  readonly name: string;
  readonly type: StoredType;
  readonly shape: readonly number[];
  /** Path of the file that holds it. */
  readonly file: string;
  /** Bytes from the beginning of the file. */
  readonly offset: number;
  /** Bytes. */
  readonly length: number;
}

/** A parsed header. */
export interface SafetensorsHeader {
  readonly metadata: Readonly<Record<string, string>>;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/** Maximum header bytes. The reference implementation has the same limit. */
const MAX_HEADER_BYTES = 100_000_000;

const count = z.int().nonnegative();
const entrySchema = z.strictObject({
  dtype: z.enum(Object.keys(ELEMENT_BITS) as [StoredType, ...StoredType[]]),
  shape: z.array(count),
  data_offsets: z.tuple([count, count]),
});
const metadataSchema = z.record(z.string(), z.string());

/** What to do about a damaged file. */
export const REMEDY = 'download or save the file again';

/** A {@link FormatError} about a safetensors file. */
export function safetensorsError(file: string, field: string, problem: string, remedy = REMEDY): FormatError {
  return new FormatError(`${file}: ${field}: ${problem}; ${remedy}`);
}

/**
 * Length of the JSON header, from the first 8 bytes of a file.
 *
 * @throws FormatError if there are fewer, or the header would not fit into the file.
 */
export function headerLength(prefix: Uint8Array, fileSize: number, file: string): number {
  if (prefix.length < 8) {
    throw safetensorsError(file, 'header length', `expected 8 bytes, the file has ${prefix.length}`);
  }
  if (new TextDecoder().decode(prefix.subarray(0, 8)) === 'version ') {
    const problem = 'the file is text, probably a pointer of Git LFS';
    throw safetensorsError(file, 'header length', problem, 'run `git lfs pull`, or download the file itself');
  }
  const length = Number(new DataView(prefix.buffer, prefix.byteOffset).getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES) {
    throw safetensorsError(file, 'header length', `${length} is above the limit of ${MAX_HEADER_BYTES}`);
  }
  if (length > fileSize - 8) {
    throw safetensorsError(
      file,
      'header length',
      `${length} exceeds the ${fileSize - 8} bytes that follow it`,
    );
  }
  return length;
}

/**
 * Parses and checks a safetensors header.
 *
 * Types must be known, lengths must fit the shapes, and the tensors must fill the file exactly.
 *
 * @param bytes - The JSON header, without the 8 bytes before it.
 * @param file - Path, for the entries and for error messages.
 * @throws FormatError naming the file, the field and a remedy.
 * @see https://github.com/huggingface/safetensors#format
 */
export function parseSafetensorsHeader(bytes: Uint8Array, fileSize: number, file: string): SafetensorsHeader {
  const { __metadata__: rawMetadata, ...entries } = parseJsonHeader(bytes, file);
  const metadata = metadataSchema.safeParse(rawMetadata ?? {});
  if (!metadata.success) throw safetensorsError(file, '__metadata__', 'expected a map of strings');
  const dataStart = 8 + bytes.length;
  const tensors = Object.entries(entries).map(([name, entry]) => parseEntry(name, entry, dataStart, file));
  checkTiling(tensors, dataStart, fileSize, file);
  return { metadata: metadata.data, tensors: new Map(tensors.map((tensor) => [tensor.name, tensor])) };
}

function parseJsonHeader(bytes: Uint8Array, file: string): Record<string, unknown> {
  let text: string;
  let json: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    json = JSON.parse(text);
  } catch (cause) {
    throw safetensorsError(file, 'header', `not valid JSON (${(cause as Error).message})`);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw safetensorsError(file, 'header', 'expected a JSON object');
  }
  const duplicate = firstDuplicateKey(text);
  if (duplicate !== undefined) throw safetensorsError(file, duplicate, 'the name occurs twice in the header');
  return json as Record<string, unknown>;
}

/** Finds the first duplicate key of an object in valid JSON. `JSON.parse` would silently overwrite it. */
function firstDuplicateKey(text: string): string | undefined {
  const scopes: Set<string>[] = [];
  const mark = /["{}]/g;
  const colon = /\s*:/y;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    if (found[0] === '{') scopes.push(new Set());
    else if (found[0] === '}') scopes.pop();
    else {
      const end = endOfString(text, mark.lastIndex);
      mark.lastIndex = end;
      colon.lastIndex = end;
      if (!colon.test(text)) continue;
      const key = JSON.parse(text.slice(found.index, end)) as string;
      const scope = scopes.at(-1)!;
      if (scope.has(key)) return key;
      scope.add(key);
    }
  }
  return undefined;
}

/** End of a string in valid JSON. One pattern for whole strings would exhaust the stack on long ones. */
function endOfString(text: string, start: number): number {
  const mark = /["\\]/g;
  mark.lastIndex = start;
  while (mark.exec(text)![0] !== '"') mark.lastIndex += 1;
  return mark.lastIndex;
}

function parseEntry(name: string, entry: unknown, dataStart: number, file: string): StoredTensor {
  const { dtype, shape, data_offsets: offsets } = parseContent(entrySchema, entry, file, [name], REMEDY);
  const [begin, end] = offsets;
  const bytes = (shape.reduce((product, size) => product * size, 1) * ELEMENT_BITS[dtype]) / 8;
  if (!Number.isSafeInteger(bytes))
    throw safetensorsError(file, `${name}.shape`, `impossible shape [${shape}]`);
  if (end - begin !== bytes) {
    const problem = `[${shape}] of ${dtype} needs ${bytes} bytes, data_offsets give ${end - begin}`;
    throw safetensorsError(file, `${name}.data_offsets`, problem);
  }
  return { name, type: dtype, shape, file, offset: dataStart + begin, length: bytes };
}

function checkTiling(
  tensors: readonly StoredTensor[],
  dataStart: number,
  fileSize: number,
  file: string,
): void {
  let position = dataStart;
  let previous = 'the header';
  for (const tensor of [...tensors].sort((a, b) => a.offset - b.offset || a.length - b.length)) {
    const field = `${tensor.name}.data_offsets`;
    const end = tensor.offset + tensor.length;
    if (end > fileSize) {
      throw safetensorsError(file, field, `ends at byte ${end}, the file at ${fileSize}: it is truncated`);
    }
    if (tensor.offset < position) throw safetensorsError(file, field, `overlaps ${previous}`);
    if (tensor.offset > position) throw safetensorsError(file, field, `leaves a gap after ${previous}`);
    position = end;
    previous = tensor.name;
  }
  if (position !== fileSize) {
    throw safetensorsError(file, 'data', `${fileSize - position} bytes belong to no tensor`);
  }
}
