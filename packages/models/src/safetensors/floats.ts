import { requireArguments } from '@rlp/core';
import { pieceLength, weightKernel } from '../kernel/kernel.ts';

/**
 * Exact conversions between float32 and the two 16-bit float formats, on bit patterns.
 *
 * Typed arrays use the machine's byte order. It is little-endian on every platform of Node, as in safetensors files.
 */

/** Types a float tensor can be stored as. */
export type FloatType = 'F32' | 'F16' | 'BF16';

/** Half bits nearest to a float32, ties to even. Values beyond the range become infinite. NaN stays NaN. */
function halfBitsOfFloat(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const mantissa = bits & 0x7fffff;
  if (exponent === 143) return sign | 0x7c00 | (mantissa === 0 ? 0 : 0x200 | (mantissa >>> 13));
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent < -10) return sign;
  const significand = exponent > 0 ? (exponent << 23) | mantissa : mantissa | 0x800000;
  return sign | roundShift(significand, exponent > 0 ? 13 : 14 - exponent);
}

/** `value / 2^shift` rounded to the nearest integer, ties to even. */
function roundShift(value: number, shift: number): number {
  const kept = value >>> shift;
  const rest = value & ((1 << shift) - 1);
  const half = 1 << (shift - 1);
  return rest > half || (rest === half && (kept & 1) === 1) ? kept + 1 : kept;
}

/** BF16 bits nearest to a float32, ties to even. NaN stays NaN. */
function brainBitsOfFloat(bits: number): number {
  if ((bits & 0x7fffffff) > 0x7f800000) return (bits >>> 16) | 0x40;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** Bytes per element. */
export function floatSize(type: FloatType): 2 | 4 {
  return type === 'F32' ? 4 : 2;
}

/**
 * Decodes stored floats into `target`, exactly.
 *
 * @param bytes - Little-endian elements; `target.length` of them. They may lie at the end of the target's memory.
 */
export function decodeFloats(type: FloatType, bytes: Uint8Array, target: Float32Array): void {
  requireArguments('decodeFloats', { type: 'text', bytes: 'list', target: 'list' }, type, bytes, target);
  if (type === 'F32') new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes);
  else decodePieces(type, target, (piece, first) => piece.set(bytes.subarray(first, first + piece.length)));
}

/** Decodes 16-bit floats in pieces. @param read - Fills a piece with bytes, from the first one on. */
export function decodePieces(
  type: 'F16' | 'BF16',
  target: Float32Array,
  read: (piece: Uint8Array, first: number) => void,
): void {
  const kernel = weightKernel();
  for (let done = 0; done < target.length; done += pieceLength) {
    const count = Math.min(pieceLength, target.length - done);
    read(kernel.halves.subarray(0, 2 * count), 2 * done);
    target.set(kernel.widen(type, count), done);
  }
}

/** Encodes float32 values as `type`, little-endian, rounding to nearest with ties to even. */
export function encodeFloats(type: FloatType, values: Float32Array): Uint8Array {
  requireArguments('encodeFloats', { type: 'text', values: 'list' }, type, values);
  if (type === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  const convert = type === 'BF16' ? brainBitsOfFloat : halfBitsOfFloat;
  for (let i = 0; i < halves.length; i++) halves[i] = convert(bits[i]!);
  return new Uint8Array(halves.buffer);
}
