import { nf4Values, quantizedBlock } from '@rlp/onnx/layers';
import type { LayerShape } from './int8.ts';

/** A value above `nf4Limits[i]` is nearer to `nf4Values[i + 1]` than to `nf4Values[i]`. */
export const nf4Limits = Float64Array.from(nf4Values.slice(1), (value, at) => (value + nf4Values[at]!) / 2);

const values = Float64Array.from(nf4Values);

/** The weight that {@link quantizeMatrix} rounded to 4 bits, in the order of the layer. */
export function dequantizeNf4(bytes: Uint8Array, scales: Float32Array, layer: LayerShape): Float32Array {
  const { inputs, outputs, order } = layer;
  const rows = new Float32Array(outputs * inputs);
  decodeNf4(bytes, scales, rows, 0);
  return order === 'out-in' ? rows : transposed(rows, outputs, inputs);
}

/** Fills `target` with numbers of a matrix `[outputs, inputs]` in 4 bits, from the first one on. */
export function decodeNf4(
  bytes: Uint8Array,
  scales: Float32Array,
  target: Float32Array,
  first: number,
): void {
  const end = first + target.length;
  for (let at = first; at < end; ) {
    const block = Math.floor(at / quantizedBlock);
    const scale = scales[block]!;
    const last = Math.min(end, (block + 1) * quantizedBlock);
    for (; at < last; at++) {
      const pair = bytes[at >> 1]!;
      target[at - first] = scale * values[(at & 1) === 0 ? pair >> 4 : pair & 15]!;
    }
  }
}

/** Blocks of a weight in 4 bits. */
export function nf4BlockCount({ inputs, outputs }: LayerShape): number {
  return Math.ceil((inputs * outputs) / quantizedBlock);
}

/** A matrix with its rows as columns. */
export function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = data[row * columns + column]!;
    }
  }
  return result;
}
