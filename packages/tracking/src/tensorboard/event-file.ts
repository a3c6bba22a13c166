import { crc32c } from './crc32c.ts';

/** One record of a TensorBoard event file. */
export interface TensorBoardEvent {
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly step?: number | undefined;
  readonly fileVersion?: string | undefined;
  /** Numbers by tag; they are written with 32 bits. */
  readonly scalars?: Readonly<Record<string, number>> | undefined;
  /** Markdown by tag, for the text dashboard. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
}

/**
 * An event as TFRecord bytes: length, its checksum, the `Event` message, its checksum.
 *
 * @see https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto
 */
export function eventRecord(event: TensorBoardEvent): Uint8Array {
  const message = eventMessage(event);
  const record = Buffer.alloc(message.length + 16);
  record.writeBigUInt64LE(BigInt(message.length), 0);
  record.writeUInt32LE(maskedChecksum(record.subarray(0, 8)), 8);
  message.copy(record, 12);
  record.writeUInt32LE(maskedChecksum(message), 12 + message.length);
  return record;
}

/** TFRecord stores checksums rotated and shifted, so that one over data with checksums in it is not weak. */
function maskedChecksum(bytes: Uint8Array): number {
  const checksum = crc32c(bytes);
  return (((checksum >>> 15) | (checksum << 17)) + 0xa282ead8) >>> 0;
}

function eventMessage({ wallTime, step, fileVersion, scalars = {}, texts = {} }: TensorBoardEvent): Buffer {
  const values = [
    ...Object.entries(scalars).map(([tag, value]) => field(1, scalarMessage(tag, value))),
    ...Object.entries(texts).map(([tag, text]) => field(1, textMessage(tag, text))),
  ];
  return Buffer.concat([
    doubleField(1, wallTime),
    ...(step === undefined ? [] : [key(2, 0), varint(step)]),
    ...(fileVersion === undefined ? [] : [field(3, Buffer.from(fileVersion))]),
    ...(values.length === 0 ? [] : [field(5, Buffer.concat(values))]),
  ]);
}

/** `DT_STRING` of TensorFlow's `types.proto`. */
const tensorOfStrings = 7;

/** `Summary.Value` with `tag` and `simple_value`. */
function scalarMessage(tag: string, value: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeFloatLE(value);
  return Buffer.concat([field(1, Buffer.from(tag)), key(2, 5), number]);
}

/** `Summary.Value` with `tag`, a tensor of one string, and metadata that names the plugin `text`. */
function textMessage(tag: string, text: string): Buffer {
  const metadata = field(1, field(1, Buffer.from('text')));
  const shape = field(2, Buffer.concat([key(1, 0), varint(1)]));
  const tensor = [key(1, 0), varint(tensorOfStrings), field(2, shape), field(8, Buffer.from(text))];
  return Buffer.concat([field(1, Buffer.from(tag)), field(9, metadata), field(8, Buffer.concat(tensor))]);
}

function field(id: number, bytes: Buffer): Buffer {
  return Buffer.concat([key(id, 2), varint(bytes.length), bytes]);
}

function doubleField(id: number, value: number): Buffer {
  const number = Buffer.alloc(8);
  number.writeDoubleLE(value);
  return Buffer.concat([key(id, 1), number]);
}

function key(id: number, wireType: 0 | 1 | 2 | 5): Buffer {
  return varint(8 * id + wireType);
}

/** A number without its fraction, seven bits a byte; one below 0 is 64 bits of two's complement. What is not finite is 0. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(Number.isFinite(value) ? Math.trunc(value) : 0));
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) + 128);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}
