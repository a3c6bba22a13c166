import { quantizedBlock, quantizedZero } from '@rlp/onnx/layers';
import type { LinearLayer } from './layout.ts';

/** A linear layer's sizes, and the order of its weight. */
export type LayerShape = Pick<LinearLayer, 'inputs' | 'outputs' | 'order'>;

/** The weight that {@link quantizeMatrix} rounded to 8 bits, in the order of the layer. */
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
