import protobuf from 'protobufjs/minimal.js';
import { crc32c } from './crc32c.ts';

/** One record of a TensorBoard event file. */
export interface TensorBoardEvent {
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly step?: number | undefined;
  readonly fileVersion?: string | undefined;
  /** Numbers by tag. They are written with 32 bits. */
  readonly scalars?: Readonly<Record<string, number>> | undefined;
  /** Markdown by tag. Shown in the text dashboard. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
}

/**
 * An event as TFRecord bytes. Length, its checksum, the `Event` message, its checksum.
 *
 * @see https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto
 */
export function eventRecord(event: TensorBoardEvent): Uint8Array {
  const message = eventMessage(event);
  const record = Buffer.alloc(message.length + 16);
  record.writeBigUInt64LE(BigInt(message.length), 0);
  record.writeUInt32LE(maskedChecksum(record.subarray(0, 8)), 8);
  record.set(message, 12);
  record.writeUInt32LE(maskedChecksum(message), 12 + message.length);
  return record;
}

/** TFRecord stores checksums rotated and shifted, so that one over data with checksums in it is not weak. */
function maskedChecksum(bytes: Uint8Array): number {
  const checksum = crc32c(bytes);
  return (((checksum >>> 15) | (checksum << 17)) + 0xa282ead8) >>> 0;
}

function eventMessage({
  wallTime,
  step,
  fileVersion,
  scalars = {},
  texts = {},
}: TensorBoardEvent): Uint8Array {
  const event = protobuf.Writer.create().uint32(tag(1, fixed64)).double(wallTime);
  if (step !== undefined) event.uint32(tag(2, varint)).int64(Math.trunc(step));
  if (fileVersion !== undefined) event.uint32(tag(3, bytes)).string(fileVersion);
  const values = [
    ...Object.entries(scalars).map(([name, value]) => scalarValue(name, value)),
    ...Object.entries(texts).map(([name, text]) => textValue(name, text)),
  ];
  if (values.length > 0) {
    const summary = protobuf.Writer.create();
    for (const value of values) summary.uint32(tag(1, bytes)).bytes(value);
    event.uint32(tag(5, bytes)).bytes(summary.finish());
  }
  return event.finish();
}

/** Wire types of protocol buffers. */
const [varint, fixed64, bytes, fixed32] = [0, 1, 2, 5] as const;

const tag = (field: number, wireType: number) => 8 * field + wireType;

/** `DT_STRING` of TensorFlow's `types.proto`. */
const tensorOfStrings = 7;

/** `Summary.Value` with `tag` and `simple_value`. */
function scalarValue(name: string, value: number): Uint8Array {
  return protobuf.Writer.create()
    .uint32(tag(1, bytes))
    .string(name)
    .uint32(tag(2, fixed32))
    .float(value)
    .finish();
}

/** `Summary.Value` with `tag`, a tensor of one string, and metadata that names the plugin `text`. */
function textValue(name: string, text: string): Uint8Array {
  const value = protobuf.Writer.create().uint32(tag(1, bytes)).string(name);
  const metadata = value.uint32(tag(9, bytes)).fork();
  metadata.uint32(tag(1, bytes)).fork().uint32(tag(1, bytes)).string('text').ldelim().ldelim();
  const tensor = value.uint32(tag(8, bytes)).fork();
  tensor.uint32(tag(1, varint)).int32(tensorOfStrings);
  tensor.uint32(tag(2, bytes)).fork().uint32(tag(2, bytes)).fork().uint32(tag(1, varint)).int64(1);
  tensor.ldelim().ldelim();
  return tensor.uint32(tag(8, bytes)).string(text).ldelim().finish();
}
