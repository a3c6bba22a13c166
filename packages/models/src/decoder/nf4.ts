import { nf4Values, quantizedBlock } from '@rlp/onnx/layers';
import { type LayerShape, largestSize } from './int8.ts';

/** A value above `limits[i]` is nearer to `nf4Values[i + 1]` than to `nf4Values[i]`. */
const limits = Float64Array.from(nf4Values.slice(1), (value, at) => (value + nf4Values[at]!) / 2);

/**
 * A weight in 4 bits: `w ≈ scale · nf4Values[code]`, where `scale = max |w|` over 64 weights. No weight differs by more than 0.152
 * scales.
 *
 * The layout is that of bitsandbytes: blocks run through the weight as `[outputs, inputs]`, from row
 * to row. The first of two codes is the upper half of a byte.
 *
 * @returns Bytes `[blocks, 32]`, the last block filled up with zeros, and scales `[blocks]`.
 */
export function quantizeNf4(data: Float32Array, layer: LayerShape) {
  const rows = layer.order === 'out-in' ? data : transposed(data, layer.inputs, layer.outputs);
  const blocks = nf4BlockCount(layer);
  const bytes = new Uint8Array((blocks * quantizedBlock) / 2);
  const scales = new Float32Array(blocks);
  for (let block = 0; block < blocks; block++) {
    const start = block * quantizedBlock;
    const end = Math.min(start + quantizedBlock, rows.length);
    const scale = largestSize(rows, start, end - start);
    scales[block] = scale;
    const inverse = scale > 0 ? 1 / scale : 0;
    for (let at = start; at < end; at += 2) {
      const lower = at + 1 < end ? nearestCode(rows[at + 1]! * inverse) : 0;
      bytes[at >> 1] = (nearestCode(rows[at]! * inverse) << 4) | lower;
    }
  }
  return { bytes, scales };
}

/** The weight that {@link quantizeNf4} rounded, in the order of the layer. */
export function dequantizeNf4(bytes: Uint8Array, scales: Float32Array, layer: LayerShape): Float32Array {
  const { inputs, outputs, order } = layer;
  const rows = new Float32Array(outputs * inputs);
  for (let at = 0; at < rows.length; at++) {
    const pair = bytes[at >> 1]!;
    const code = at % 2 === 0 ? pair >> 4 : pair & 15;
    rows[at] = scales[Math.floor(at / quantizedBlock)]! * nf4Values[code]!;
  }
  return order === 'out-in' ? rows : transposed(rows, outputs, inputs);
}

/** Blocks of a weight in 4 bits. */
export function nf4BlockCount({ inputs, outputs }: LayerShape): number {
  return Math.ceil((inputs * outputs) / quantizedBlock);
}

/** Cells of equal width from −1 to 1. None holds two limits. */
const cells = 1024;

/** The code at the lower end of each cell, and at 1. */
const lowestCodes = Uint8Array.from({ length: cells + 1 }, (_, cell) => {
  const value = (2 * cell) / cells - 1;
  return limits.filter((limit) => limit < value).length;
});

/** The limit in each cell, or the next one. Infinite beyond the last. */
const nextLimits = Float64Array.from(lowestCodes, (code) => limits[code] ?? Number.POSITIVE_INFINITY);

/** The code whose value is nearest. Without branches that a processor would guess wrong. */
function nearestCode(value: number): number {
  const cell = ((value + 1) * (cells / 2)) | 0;
  return lowestCodes[cell]! + Number(value > nextLimits[cell]!);
}

function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(data.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = data[row * columns + column]!;
    }
  }
  return result;
}
