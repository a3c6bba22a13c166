import { ArgumentError } from '@rlp/core';

import { type DataType, dataTypes } from './data-type.ts';

/** Elements of a tensor, in row-major order. For float16 and bfloat16 a `Uint16Array` holds raw bits. */
export type TensorData =
  | number
  | readonly number[]
  | readonly bigint[]
  | Float32Array
  | Float64Array
  | BigInt64Array
  | Int32Array
  | Uint16Array
  | Uint8Array;

const scratch = new DataView(new ArrayBuffer(4));

function float32Bits(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

/** Bits of the bfloat16 nearest to `value` (ties to even). */
export function bfloat16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  const bits = float32Bits(value);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

/** Bits of the float16 nearest to `value` (ties to even). Infinite beyond ±65504. */
export function float16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = (float32Bits(value) >>> 16) & 0x8000;
  const magnitude = Math.abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  const exponent = magnitude < 2 ** -14 ? -14 : Math.floor(Math.log2(magnitude));
  const units = roundHalfToEven(magnitude * 2 ** (10 - exponent));
  return magnitude < 2 ** -14 ? sign | units : sign | (((exponent + 15) << 10) + (units - 1024));
}

function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest === 0.5) return floor + (floor % 2);
  return rest > 0.5 ? floor + 1 : floor;
}

function toTyped(type: DataType, values: readonly (number | bigint)[]): ArrayBufferView {
  switch (type) {
    case 'float32':
      return Float32Array.from(values, Number);
    case 'float64':
      return Float64Array.from(values, Number);
    case 'int64':
      return BigInt64Array.from(values, (value) => toInteger(value));
    case 'int32':
      return Int32Array.from(values, toInt32);
    case 'uint8':
      return Uint8Array.from(values, toUint8);
    case 'bool':
      return Uint8Array.from(values, (value) => (Number(value) === 0 ? 0 : 1));
    case 'float16':
      return Uint16Array.from(values, (value) => float16Bits(Number(value)));
    case 'bfloat16':
      return Uint16Array.from(values, (value) => bfloat16Bits(Number(value)));
  }
}

function toInteger(value: number | bigint): bigint {
  if (typeof value === 'bigint' || Number.isInteger(value)) return BigInt(value);
  throw new ArgumentError(`an int64 tensor cannot hold ${value}, expected a whole number of 64 bits`);
}

function toInt32(value: number | bigint): number {
  const number = Number(value);
  if (number === (number | 0)) return number;
  throw new ArgumentError(`an int32 tensor cannot hold ${value}, expected a whole number of 32 bits`);
}

function toUint8(value: number | bigint): number {
  const number = Number(value);
  if (number === (number & 255)) return number;
  throw new ArgumentError(`a uint8 tensor cannot hold ${value}, expected a whole number from 0 to 255`);
}

const native: Readonly<Record<DataType, string>> = {
  float32: 'Float32Array',
  float64: 'Float64Array',
  int64: 'BigInt64Array',
  int32: 'Int32Array',
  uint8: 'Uint8Array',
  bool: 'Uint8Array',
  float16: 'Uint16Array',
  bfloat16: 'Uint16Array',
};

/**
 * Little-endian bytes of a tensor. Views typed arrays of the tensor's type and converts other data.
 *
 * @param count - Expected number of elements. Throws an ArgumentError for any other.
 */
export function encodeTensor(owner: string, type: DataType, data: TensorData, count: number): Uint8Array {
  const list = typeof data === 'number' ? [data] : data;
  if (list.length !== count) {
    throw new ArgumentError(
      `${owner}: the shape holds ${count} elements, the data ${list.length}; both must be equal`,
    );
  }
  const typed =
    ArrayBuffer.isView(list) && list.constructor.name === native[type]
      ? list
      : toTyped(type, Array.from<number | bigint>(list));
  const bytes = new Uint8Array(typed.buffer, typed.byteOffset, typed.byteLength);
  if (bytes.byteLength === count * dataTypes[type].bytes) return bytes;
  throw new ArgumentError(
    `${owner}: ${bytes.byteLength} bytes do not hold ${count} elements of ${type}; both must agree`,
  );
}

/** Throws an ArgumentError unless the file position, in bytes, can hold exactly `count` elements. */
export function checkPlace(
  owner: string,
  type: DataType,
  { offset, length }: { readonly offset: number; readonly length: number },
  count: number,
): void {
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw new ArgumentError(`${owner}: the offset must be an integer of at least 0, got ${offset}`);
  }
  const expected = count * dataTypes[type].bytes;
  if (length === expected) return;
  throw new ArgumentError(
    `${owner}: ${count} elements of ${type} take ${expected} bytes, the place has ${length}`,
  );
}
