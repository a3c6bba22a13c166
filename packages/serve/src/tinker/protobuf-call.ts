import protobuf from 'protobufjs/minimal.js';
import { ApiError } from '../api-error.ts';

type Reader = protobuf.Reader;

/** A request that came as protobuf, as the same request would be in JSON. */
export interface ProtobufCall {
  readonly path: '/forward' | '/forward_backward';
  readonly body: object;
}

/**
 * Reads `tinker_public.ForwardBackwardRequest`, which clients of Tinker send since version 0.25. Unknown fields are left alone.
 *
 * @throws ApiError 400 for bytes that are not such a message, and 422 for inputs that are not dense text.
 */
export function protobufCall(bytes: Uint8Array): ProtobufCall {
  try {
    return read(protobuf.Reader.create(bytes));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(
      400,
      'expected a ForwardBackwardRequest as protobuf, got a body that is not; send it whole',
    );
  }
}

function read(reader: Reader): ProtobufCall {
  const data: object[] = [];
  const settings = new Map<string, number>();
  const call = { model_id: '', seq_id: 0, loss_fn: '', forwardOnly: false };
  fields(reader, reader.len, {
    1: () => {
      call.model_id = reader.string();
    },
    2: () => {
      call.seq_id = reader.int32();
    },
    3: () => {
      data.push(datum(reader));
    },
    4: () => {
      call.loss_fn = reader.string();
    },
    5: () => {
      settings.set(...entry(reader, 0, () => reader.double()));
    },
    6: () => {
      call.forwardOnly = reader.bool();
    },
    7: () => {
      settings.set(...entry(reader, 0, () => lossSetting(reader)));
    },
  });
  const { model_id, seq_id, loss_fn, forwardOnly } = call;
  const pass = { data, loss_fn, loss_fn_config: Object.fromEntries(settings) };
  return forwardOnly
    ? { path: '/forward', body: { model_id, seq_id, forward_input: pass } }
    : { path: '/forward_backward', body: { model_id, seq_id, forward_backward_input: pass } };
}

/** Reads the fields of a message up to `end`, each by its number. */
function fields(reader: Reader, end: number, readers: Readonly<Record<number, () => void>>): void {
  while (reader.pos < end) {
    const tag = reader.uint32();
    const known = readers[tag >>> 3];
    if (known === undefined) reader.skipType(tag & 7);
    else known();
  }
}

/** Reads a message that is a field of another one. */
function inner(reader: Reader, readers: Readonly<Record<number, () => void>>): void {
  const length = reader.uint32();
  fields(reader, reader.pos + length, readers);
}

function entry<Value>(reader: Reader, fallback: Value, value: () => Value): [string, Value] {
  const found: [string, Value] = ['', fallback];
  inner(reader, {
    1: () => {
      found[0] = reader.string();
    },
    2: () => {
      found[1] = value();
    },
  });
  return found;
}

function lossSetting(reader: Reader): number {
  let value = 0;
  inner(reader, {
    1: () => {
      value = reader.double();
    },
    2: () => {
      throw new ApiError(422, `loss_fn_config: expected numbers, got "${reader.string()}"; send a number`);
    },
  });
  return value;
}

function datum(reader: Reader): object {
  const chunks: object[] = [];
  const inputs = new Map<string, object>();
  inner(reader, {
    1: () => {
      chunks.push(chunk(reader));
    },
    2: () => {
      inputs.set(...entry<object>(reader, { data: [] }, () => tensor(reader)));
    },
  });
  return { model_input: { chunks }, loss_fn_inputs: Object.fromEntries(inputs) };
}

function chunk(reader: Reader): object {
  let tokens: number[] | undefined;
  inner(reader, {
    1: () => {
      inner(reader, {
        1: () => {
          tokens = numbers(reader.bytes(), 'int32');
        },
      });
      tokens ??= [];
    },
  });
  if (tokens !== undefined) return { type: 'encoded_text', tokens };
  throw new ApiError(
    422,
    'model_input: expected encoded_text, got another chunk; this server takes only text',
  );
}

/** Types of numbers by `tinker_public.DType`. */
const types = { 1: 'float32', 2: 'int64', 3: 'int32' } as const;

function tensor(reader: Reader): object {
  let bytes: Uint8Array = new Uint8Array();
  let type = 0;
  const shape: number[] = [];
  const size = () => Number(reader.int64());
  inner(reader, {
    1: () => {
      bytes = reader.bytes();
    },
    2: () => {
      throw new ApiError(422, 'expected a dense tensor, got a sparse one; send it dense');
    },
    3: () => {
      type = reader.int32();
    },
    4: () => {
      for (const end = reader.uint32() + reader.pos; reader.pos < end; ) shape.push(size());
    },
  });
  const dtype = types[type as keyof typeof types];
  if (dtype === undefined)
    throw new ApiError(422, `expected a tensor of float32, int64 or int32, got type ${type}; convert it`);
  return { data: numbers(bytes, dtype), dtype, shape };
}

/** Little-endian numbers. Fewer bytes than a number needs are refused. */
function numbers(bytes: Uint8Array, type: (typeof types)[keyof typeof types]): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = type === 'int64' ? 8 : 4;
  if (bytes.length % width !== 0) throw new RangeError(`${bytes.length} bytes of ${type}`);
  const at = {
    float32: (i: number) => view.getFloat32(i, true),
    int32: (i: number) => view.getInt32(i, true),
    int64: (i: number) => Number(view.getBigInt64(i, true)),
  }[type];
  return Array.from({ length: bytes.length / width }, (_, i) => at(i * width));
}
