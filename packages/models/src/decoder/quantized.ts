import { type HostTensor, numbersOf, type Weights } from '@rlp/core';
import type { Value } from '@rlp/onnx';
import { nf4Linear, quantizedBlock, quantizedLinear } from '@rlp/onnx/layers';
import { blockCount, dequantizeInt8, type LayerShape, quantizeInt8 } from './int8.ts';
import type { LinearLayer } from './layout.ts';
import { dequantizeNf4, nf4BlockCount, quantizeNf4 } from './nf4.ts';

/** Forms of a weight with less than 32 bits: 8 bits with one scale for 64 inputs, or 4-bit NormalFloat. */
export const quantizedForms = ['int8', 'nf4'] as const;

/** A form of {@link quantizedForms}. */
export type QuantizedForm = (typeof quantizedForms)[number];

/** A matrix in blocks that share a scale. {@link quantizeInt8} and {@link quantizeNf4} say what the bytes mean. */
export interface QuantizedMatrix {
  readonly form: QuantizedForm;
  readonly outputs: number;
  readonly inputs: number;
  readonly bytes: Uint8Array;
  /** NaN for a block with weights that are not finite. */
  readonly scales: Float32Array;
}

const quantizers = { int8: quantizeInt8, nf4: quantizeNf4 };
const dequantizers = { int8: dequantizeInt8, nf4: dequantizeNf4 };
const blockCounts = { int8: blockCount, nf4: nf4BlockCount };
const blockBytes = { int8: quantizedBlock, nf4: quantizedBlock / 2 };

/** Quantizes the weight of a linear layer. */
export function quantizeMatrix(data: Float32Array, layer: LayerShape, form: QuantizedForm): QuantizedMatrix {
  const { inputs, outputs } = layer;
  return { form, outputs, inputs, ...quantizers[form](data, layer) };
}

/** The weight that a quantized matrix stands for, in the order of the layer. */
export function dequantizeMatrix({ form, bytes, scales }: QuantizedMatrix, layer: LayerShape): Float32Array {
  return dequantizers[form](bytes, scales, layer);
}

/** Bytes of a quantized layer, with its scales. */
export function quantizedBytes(layer: LayerShape, form: QuantizedForm): number {
  return blockCounts[form](layer) * (blockBytes[form] + Float32Array.BYTES_PER_ELEMENT);
}

/**
 * Names of the two tensors of a layer whose weight is stored quantized.
 *
 * Stores hold numbers of 32 bits. Each number of `bytes` is four bytes of the matrix, whatever number they make.
 */
export function quantizedNames(
  weight: string,
  form: QuantizedForm,
): { readonly bytes: string; readonly scales: string } {
  return { bytes: `${weight}.${form}`, scales: `${weight}.scales` };
}

/** Bytes of each block in a store's tensor of this name. `undefined` if it holds numbers. */
export function bytesPerBlock(name: string): number | undefined {
  const form = quantizedForms.find((form) => name.endsWith(`.${form}`));
  return form && blockBytes[form];
}

/** Names of the published factors of a layer's correction: what is added to its output is `(x · downᵀ) · upᵀ`. */
export function correctionNames(weight: string): { readonly down: string; readonly up: string } {
  return { down: `${weight}.down`, up: `${weight}.up` };
}

/**
 * The tensors that a store holds instead of the weights of these layers. All other weights stay as they are.
 *
 * A layer is rounded when its tensors are asked for, and kept until another one is, so that one at a time is in memory.
 */
export function quantizeWeights(
  weights: Weights,
  layers: readonly LinearLayer[],
  form: QuantizedForm,
): Weights {
  const quantized = new Map(layers.map((layer) => [layer.weight, layer]));
  const largest = Math.max(0, ...layers.map(({ inputs, outputs }) => inputs * outputs));
  let numbers: Float32Array | undefined;
  let last: (QuantizedMatrix & { readonly weight: string }) | undefined;
  const rounded = (layer: LinearLayer) => {
    const { weight } = layer;
    if (last?.weight === weight) return last;
    numbers ??= new Float32Array(largest);
    last = { ...quantizeMatrix(numbersOf(weights.get(weight)!, numbers), layer, form), weight };
    return last;
  };
  return new Map(
    [...weights].flatMap(([name, tensor]): (readonly [string, HostTensor])[] => {
      const layer = quantized.get(name);
      if (!layer) return [[name, tensor]];
      const names = quantizedNames(name, form);
      const scales = blockCounts[form](layer);
      const numbers = (scales * blockBytes[form]) / Float32Array.BYTES_PER_ELEMENT;
      return [
        [names.bytes, lazyTensor([numbers], () => new Float32Array(rounded(layer).bytes.buffer))],
        [names.scales, lazyTensor([scales], () => rounded(layer).scales)],
      ];
    }),
  );
}

function lazyTensor(shape: readonly number[], read: () => Float32Array): HostTensor {
  return {
    shape,
    get data() {
      return read();
    },
  };
}

/** The matrix of a layer in a store whose tensors `read` gives. It shares their memory. */
export function storedMatrix(
  read: (name: string) => Float32Array,
  layer: LinearLayer,
  form: QuantizedForm,
): QuantizedMatrix {
  const { inputs, outputs } = layer;
  const names = quantizedNames(layer.weight, form);
  const { buffer, byteOffset, byteLength } = read(names.bytes);
  return {
    ...{ form, inputs, outputs },
    bytes: new Uint8Array(buffer, byteOffset, byteLength),
    scales: read(names.scales),
  };
}

/** The product of a layer whose bytes and scales are inputs of the graph, without its bias. `parameter` gives known inputs. */
export function quantizedProduct(
  x: Value,
  layer: LinearLayer,
  form: QuantizedForm,
  parameter: (name: string, type: 'float32' | 'uint8', shape: readonly number[]) => Value,
): Value {
  const names = quantizedNames(layer.weight, form);
  const blocks = blockCounts[form](layer);
  const matrix = {
    bytes: parameter(names.bytes, 'uint8', [blocks, blockBytes[form]]),
    scales: parameter(names.scales, 'float32', [blocks]),
  };
  return form === 'int8' ? quantizedLinear(x, matrix) : nf4Linear(x, matrix, layer.outputs);
}
