import type { LinearLayer } from '@rlp/models/decoder';
import { defineOp, type Value } from '@rlp/onnx';

/** Inputs of a linear layer that share one scale. */
export const quantizedBlock = 64;

/** Products of activations in 8 bits, as accurate as the weights are. */
const ACCURACY_LEVEL = 4;

const productOp = defineOp({ type: 'MatMulNBits', domain: 'com.microsoft' });

/**
 * A matrix in 8 bits: `w ≈ scale · (byte − 128)`, where `scale = max |w| / 127` over a block. No weight differs by more than
 * half a scale.
 */
export interface QuantizedMatrix {
  readonly outputs: number;
  readonly inputs: number;
  /** Shape: `[outputs, blocks, 64]`. The last block is filled up with zeros. */
  readonly bytes: Uint8Array;
  /** Shape: `[outputs, blocks]`. NaN for a block with weights that are not finite. */
  readonly scales: Float32Array;
}

/** Quantizes the weight of a linear layer. */
export function quantizeMatrix(
  data: Float32Array,
  { inputs, outputs, order }: Pick<LinearLayer, 'inputs' | 'outputs' | 'order'>,
): QuantizedMatrix {
  const blocks = Math.ceil(inputs / quantizedBlock);
  const bytes = new Uint8Array(outputs * blocks * quantizedBlock).fill(128);
  const scales = new Float32Array(outputs * blocks);
  const [ofOutput, ofInput] = order === 'out-in' ? [inputs, 1] : [1, outputs];
  for (let block = 0; block < scales.length; block++) {
    const first = (block % blocks) * quantizedBlock;
    const count = Math.min(quantizedBlock, inputs - first);
    const start = Math.floor(block / blocks) * ofOutput + first * ofInput;
    const scale = scaleOf(data, start, count, ofInput);
    scales[block] = scale;
    const inverse = scale > 0 ? 1 / scale : 0;
    const target = block * quantizedBlock;
    for (let i = 0; i < count; i++) {
      // The byte array cuts off the fraction, and half of a unit more makes that the nearest one.
      bytes[target + i] = data[start + i * ofInput]! * inverse + 128.5;
    }
  }
  return { outputs, inputs, bytes, scales };
}

function scaleOf(data: Float32Array, start: number, count: number, stride: number): number {
  let largest = 0;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const size = Math.abs(data[start + i * stride]!);
    if (size > largest) largest = size;
    sum += size;
  }
  return Number.isFinite(sum) ? Math.fround(largest / 127) : Number.NaN;
}

/** `x Wᵀ` of a quantized matrix, which becomes part of the graph. */
export function quantizedProduct(x: Value, name: string, matrix: QuantizedMatrix): Value {
  const { outputs, inputs, bytes, scales } = matrix;
  const { graph } = x;
  const blocks = scales.length / outputs;
  const weight = graph.initializer(`${name}.int8`, 'uint8', [outputs, blocks, quantizedBlock], bytes);
  const factors = graph.initializer(`${name}.scales`, 'float32', [scales.length], scales);
  const attributes = {
    K: inputs,
    N: outputs,
    bits: 8,
    block_size: quantizedBlock,
    accuracy_level: ACCURACY_LEVEL,
  };
  const declared = [{ type: 'float32' as const, shape: [x.shape[0]!, outputs] }];
  return graph.apply(productOp, [x, weight, factors], attributes, declared)[0]!;
}
