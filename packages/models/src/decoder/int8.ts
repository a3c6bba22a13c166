import { quantizedBlock, quantizedZero } from '@rlp/onnx/layers';
import type { LinearLayer } from './layout.ts';

/** A linear layer's sizes, and the order of its weight. */
export type LayerShape = Pick<LinearLayer, 'inputs' | 'outputs' | 'order'>;

/**
 * A weight in 8 bits: `w ≈ scale · (byte − 128)`, where `scale = max |w| / 127` over a block of 64 inputs. No weight differs by more
 * than half a scale.
 *
 * @returns Bytes `[outputs, blocks, 64]`, the last block filled up with zeros, and scales `[outputs, blocks]`.
 */
export function quantizeInt8(data: Float32Array, layer: LayerShape) {
  const bytes = new Uint8Array(blockCount(layer) * quantizedBlock).fill(quantizedZero);
  const scales = new Float32Array(blockCount(layer));
  for (let block = 0; block < scales.length; block++) {
    const { start, count, stride } = blockAt(layer, block);
    const scale = Math.fround(largestSize(data, start, count, stride) / 127);
    scales[block] = scale;
    const inverse = scale > 0 ? 1 / scale : 0;
    const target = block * quantizedBlock;
    for (let i = 0; i < count; i++) {
      // The byte array cuts off the fraction, and half of a unit more makes that the nearest one.
      bytes[target + i] = data[start + i * stride]! * inverse + (quantizedZero + 0.5);
    }
  }
  return { bytes, scales };
}

/** The weight that {@link quantizeInt8} rounded, in the order of the layer. */
export function dequantizeInt8(bytes: Uint8Array, scales: Float32Array, layer: LayerShape): Float32Array {
  const data = new Float32Array(layer.outputs * layer.inputs);
  for (let block = 0; block < scales.length; block++) {
    const { start, count, stride } = blockAt(layer, block);
    const scale = scales[block]!;
    const source = block * quantizedBlock;
    for (let i = 0; i < count; i++) data[start + i * stride] = scale * (bytes[source + i]! - quantizedZero);
  }
  return data;
}

/** Blocks of a weight in 8 bits. */
export function blockCount({ inputs, outputs }: LayerShape): number {
  return outputs * Math.ceil(inputs / quantizedBlock);
}

/** The first, number and distance of a block's weights in the layer's order. */
function blockAt({ inputs, order, outputs }: LayerShape, block: number) {
  const blocks = Math.ceil(inputs / quantizedBlock);
  const [ofOutput, stride] = order === 'out-in' ? [inputs, 1] : [1, outputs];
  const first = (block % blocks) * quantizedBlock;
  const start = Math.floor(block / blocks) * ofOutput + first * stride;
  return { start, count: Math.min(quantizedBlock, inputs - first), stride };
}

/** The largest size of some weights, evenly spaced. NaN if one is not finite. */
export function largestSize(data: Float32Array, start: number, count: number, stride = 1): number {
  let largest = 0;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const size = Math.abs(data[start + i * stride]!);
    if (size > largest) largest = size;
    sum += size;
  }
  return Number.isFinite(sum) ? largest : Number.NaN;
}
