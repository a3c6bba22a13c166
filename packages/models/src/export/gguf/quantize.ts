import { encodeFloats } from '../../safetensors/floats.ts';

/** Types that a tensor of a GGUF file can have here. */
export type GgufType = 'F32' | 'F16' | 'BF16' | 'Q8_0';

/** Numbers of the types in the format. */
export const typeCodes: Readonly<Record<GgufType, number>> = { F32: 0, F16: 1, Q8_0: 8, BF16: 30 };

/** Values that share a scale in Q8_0. */
export const blockSize = 32;

/** Bytes of `count` values. */
export function encodedSize(type: GgufType, count: number): number {
  if (type === 'F32') return 4 * count;
  return type === 'Q8_0' ? (count / blockSize) * (blockSize + 2) : 2 * count;
}

/** Encodes values. Those of Q8_0 have to be whole blocks. */
export function encodeValues(type: GgufType, values: Float32Array): Uint8Array {
  return type === 'Q8_0' ? quantized(values) : encodeFloats(type, values);
}

/**
 * Q8_0: blocks of a half-precision scale `d = max |x| / 127` and 32 numbers `round(x / d)`, halves away from zero.
 *
 * @see https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/quants.py
 */
function quantized(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array(encodedSize('Q8_0', values.length));
  const numbers = new Int8Array(bytes.buffer);
  const scale = new Float32Array(1);
  let at = 0;
  for (let start = 0; start < values.length; start += blockSize) {
    let largest = 0;
    for (let i = start; i < start + blockSize; i++) largest = Math.max(largest, Math.abs(values[i]!));
    scale[0] = largest / 127;
    const inverse = scale[0] === 0 ? 0 : Math.fround(1 / scale[0]);
    bytes.set(encodeFloats('F16', scale), at);
    for (let i = 0; i < blockSize; i++) {
      const scaled = Math.fround(values[start + i]! * inverse);
      numbers[at + 2 + i] = Math.sign(scaled) * Math.floor(Math.abs(scaled) + 0.5);
    }
    at += blockSize + 2;
  }
  return bytes;
}
