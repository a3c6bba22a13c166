import { crc32c } from './crc32c.ts';

/** One record of a TensorBoard event file. */
export interface TensorBoardEvent {
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly step?: number | undefined;
  readonly fileVersion?: string | undefined;
  /** Numbers by tag; they are written with 32 bits. */
  readonly scalars?: Readonly<Record<string, number>> | undefined;
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

function eventMessage({ wallTime, step, fileVersion, scalars = {} }: TensorBoardEvent): Buffer {
  const values = Object.entries(scalars).map(([tag, value]) => field(1, scalarMessage(tag, value)));
  return Buffer.concat([
    doubleField(1, wallTime),
    ...(step === undefined ? [] : [key(2, 0), varint(step)]),
    ...(fileVersion === undefined ? [] : [field(3, Buffer.from(fileVersion))]),
    ...(values.length === 0 ? [] : [field(5, Buffer.concat(values))]),
  ]);
}

/** `Summary.Value` with `tag` and `simple_value`. */
function scalarMessage(tag: string, value: number): Buffer {
  const number = Buffer.alloc(4);
  number.writeFloatLE(value);
  return Buffer.concat([field(1, Buffer.from(tag)), key(2, 5), number]);
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

/** A whole number that is not negative, seven bits a byte. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}
