import type { HostTensor, Weights } from '@rlp/core';
import type { Value } from '@rlp/onnx';
import { quantizedBlock, quantizedLinear, quantizedZero } from '@rlp/onnx/layers';
import type { LinearLayer } from './layout.ts';

/**
 * A matrix in 8 bits: `w ≈ scale · (byte − 128)`, where `scale = max |w| / 127` over a block of 64 inputs. No weight differs by
 * more than half a scale.
 */
export interface QuantizedMatrix {
  readonly outputs: number;
  readonly inputs: number;
  /** Shape: `[outputs, blocks, 64]`. The last block is filled up with zeros. */
  readonly bytes: Uint8Array;
  /** Shape: `[outputs, blocks]`. NaN for a block with weights that are not finite. */
  readonly scales: Float32Array;
}

type LayerShape = Pick<LinearLayer, 'inputs' | 'outputs' | 'order'>;

/** Quantizes the weight of a linear layer. */
export function quantizeMatrix(data: Float32Array, layer: LayerShape): QuantizedMatrix {
  const { inputs, outputs } = layer;
  const bytes = new Uint8Array(blockCount(layer) * quantizedBlock).fill(quantizedZero);
  const scales = new Float32Array(blockCount(layer));
  for (let block = 0; block < scales.length; block++) {
    const { start, count, stride } = blockAt(layer, block);
    const scale = scaleOf(data, start, count, stride);
    scales[block] = scale;
    const inverse = scale > 0 ? 1 / scale : 0;
    const target = block * quantizedBlock;
    for (let i = 0; i < count; i++) {
      // The byte array cuts off the fraction, and half of a unit more makes that the nearest one.
      bytes[target + i] = data[start + i * stride]! * inverse + (quantizedZero + 0.5);
    }
  }
  return { outputs, inputs, bytes, scales };
}

/** The weight that a matrix in 8 bits stands for, in the order of the layer. */
export function dequantizeMatrix(
  { bytes, scales }: Pick<QuantizedMatrix, 'bytes' | 'scales'>,
  layer: LayerShape,
): Float32Array {
  const data = new Float32Array(layer.outputs * layer.inputs);
  for (let block = 0; block < scales.length; block++) {
    const { start, count, stride } = blockAt(layer, block);
    const scale = scales[block]!;
    const source = block * quantizedBlock;
    for (let i = 0; i < count; i++) data[start + i * stride] = scale * (bytes[source + i]! - quantizedZero);
  }
  return data;
}

function blockCount({ inputs, outputs }: LayerShape): number {
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

/**
 * Names of the two tensors of a layer whose weight is stored in 8 bits.
 *
 * Stores hold numbers of 32 bits. Each number of `bytes` is four bytes of the matrix, whatever number they make.
 */
export function quantizedNames(weight: string): { readonly bytes: string; readonly scales: string } {
  return { bytes: `${weight}.int8`, scales: `${weight}.scales` };
}

/** Whether a store's tensor of this name holds bytes. */
export function isQuantizedBytes(name: string): boolean {
  return name.endsWith('.int8');
}

/** Names of the published factors of a layer's correction: what is added to its output is `(x · downᵀ) · upᵀ`. */
export function correctionNames(weight: string): { readonly down: string; readonly up: string } {
  return { down: `${weight}.down`, up: `${weight}.up` };
}

/** The tensors that a store holds instead of the weights of these layers. All other weights stay as they are. */
export function quantizeWeights(weights: Weights, layers: readonly LinearLayer[]): Weights {
  const quantized = new Map(layers.map((layer) => [layer.weight, layer]));
  return new Map(
    [...weights].flatMap(([name, tensor]): (readonly [string, HostTensor])[] => {
      const layer = quantized.get(name);
      if (!layer) return [[name, tensor]];
      const { bytes, scales } = quantizeMatrix(tensor.data, layer);
      const names = quantizedNames(name);
      const numbers = new Float32Array(bytes.buffer);
      return [
        [names.bytes, { shape: [numbers.length], data: numbers }],
        [names.scales, { shape: [scales.length], data: scales }],
      ];
    }),
  );
}

/** The matrix of a layer in a store whose tensors `read` gives. It shares their memory. */
export function storedMatrix(read: (name: string) => Float32Array, layer: LinearLayer): QuantizedMatrix {
  const { inputs, outputs } = layer;
  const names = quantizedNames(layer.weight);
  const { buffer, byteOffset, byteLength } = read(names.bytes);
  return {
    inputs,
    outputs,
    bytes: new Uint8Array(buffer, byteOffset, byteLength),
    scales: read(names.scales),
  };
}

/** The product of a layer whose bytes and scales are inputs of the graph, without its bias. `parameter` gives known inputs. */
export function quantizedProduct(
  x: Value,
  layer: LinearLayer,
  parameter: (name: string, type: 'float32' | 'uint8', shape: readonly number[]) => Value,
): Value {
  const names = quantizedNames(layer.weight);
  const blocks = blockCount(layer);
  return quantizedLinear(x, {
    bytes: parameter(names.bytes, 'uint8', [blocks, quantizedBlock]),
    scales: parameter(names.scales, 'float32', [blocks]),
  });
}
