import {
  type HostTensor,
  numbersOf,
  requireArguments,
  requireChoice,
  requireFields,
  type Weights,
} from '@rlp/core';
import type { Value } from '@rlp/onnx';
import { nf4Linear, quantizedLinear } from '@rlp/onnx/layers';
import { dequantizeInt8, type LayerShape } from './int8.ts';
import type { LinearLayer } from './layout.ts';
import { decodeNf4, dequantizeNf4, transposed } from './nf4.ts';
import {
  blockBytes,
  blockCounts,
  type QuantizedForm,
  quantizedForms,
  type ReadWeights,
  roundBlocks,
} from './rounding.ts';

/** A matrix in blocks that share a scale. {@link roundBlocks} says what the bytes mean. */
export interface QuantizedMatrix {
  readonly form: QuantizedForm;
  readonly outputs: number;
  readonly inputs: number;
  readonly bytes: Uint8Array;
  /** NaN for a block with weights that are not finite. */
  readonly scales: Float32Array;
}

const dequantizers = { int8: dequantizeInt8, nf4: dequantizeNf4 };

/** Quantizes the weight of a linear layer. */
export function quantizeMatrix(data: Float32Array, layer: LayerShape, form: QuantizedForm): QuantizedMatrix {
  requireArguments('quantizeMatrix', { data: 'list' }, data);
  blocksOf(layer, form);
  return rounded(readerOf({ shape: [data.length], data }, layer), layer, form);
}

/** The same matrix in 8 bits, rounded again from 4. One in 8 bits is given back. */
export function asInt8(matrix: QuantizedMatrix): QuantizedMatrix {
  requireFields('asInt8', { bytes: 'list', scales: 'list', inputs: 'number', outputs: 'number' }, matrix);
  const { form, inputs, outputs, bytes, scales } = matrix;
  if (form === 'int8') return matrix;
  const read: ReadWeights = (target, first) => decodeNf4(bytes, scales, target, first);
  return rounded(read, { inputs, outputs, order: 'out-in' }, 'int8');
}

function rounded(read: ReadWeights, layer: LayerShape, form: QuantizedForm): QuantizedMatrix {
  const { inputs, outputs } = layer;
  const scales = new Float32Array(blocksOf(layer, form));
  const bytes = new Uint8Array(scales.length * blockBytes[form]);
  roundBlocks(read, { layer, form, first: 0, bytes, scales });
  return { form, outputs, inputs, bytes, scales };
}

/** Reads a weight in the order `[outputs, inputs]`. One that is stored the other way round is turned as a whole. */
function readerOf(tensor: HostTensor, layer: LayerShape): ReadWeights {
  if (layer.order === 'out-in' && tensor.copyTo !== undefined) {
    return (target, first) => tensor.copyTo!(target, first);
  }
  const data = numbersOf(tensor);
  const rows = layer.order === 'out-in' ? data : transposed(data, layer.inputs, layer.outputs);
  return (target, first) => target.set(rows.subarray(first, first + target.length));
}

/** The weight that a quantized matrix stands for, in the order of the layer. */
export function dequantizeMatrix(matrix: QuantizedMatrix, layer: LayerShape): Float32Array {
  const { form, bytes, scales } = requireFields(
    'dequantizeMatrix',
    { bytes: 'list', scales: 'list' },
    matrix,
  );
  blocksOf(layer, form);
  return dequantizers[form](bytes, scales, layer);
}

/** Blocks of a layer. @throws ArgumentError for what is not a layer, or for another form. */
function blocksOf(layer: LayerShape, form: QuantizedForm): number {
  requireFields('quantized layer', { inputs: 'number', outputs: 'number', order: 'text' }, layer);
  requireChoice('quantized layer', 'form', form, quantizedForms);
  return blockCounts[form](layer);
}

/** Bytes of a quantized layer, with its scales. */
export function quantizedBytes(layer: LayerShape, form: QuantizedForm): number {
  return blocksOf(layer, form) * (blockBytes[form] + Float32Array.BYTES_PER_ELEMENT);
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
  requireArguments('bytesPerBlock', { name: 'text' }, name);
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
 * Blocks are rounded when they are asked for. Only the scales of the last layer are kept, until its tensor of scales is read.
 */
export function quantizeWeights(
  weights: Weights,
  layers: readonly LinearLayer[],
  form: QuantizedForm,
): Weights {
  requireArguments('quantizeWeights', { weights: 'object', layers: 'objects' }, weights, layers);
  const quantized = new Map(layers.map((layer) => [layer.weight, layer]));
  let last: RoundedLayer | undefined;
  const layerOf = (layer: LinearLayer) => {
    if (last?.layer !== layer) last = new RoundedLayer(weights.get(layer.weight)!, layer, form);
    return last;
  };
  return new Map(
    [...weights].flatMap(([name, tensor]): (readonly [string, HostTensor])[] => {
      const layer = quantized.get(name);
      if (!layer) return [[name, tensor]];
      const names = quantizedNames(name, form);
      const scales = blocksOf(layer, form);
      const numbers = (scales * blockBytes[form]) / Float32Array.BYTES_PER_ELEMENT;
      return [
        [names.bytes, readTensor([numbers], (target, first) => layerOf(layer).copyBytes(target, first))],
        [names.scales, readTensor([scales], (target, first) => layerOf(layer).copyScales(target, first))],
      ];
    }),
  );
}

/** The blocks of one layer, rounded as they are asked for. */
class RoundedLayer {
  readonly layer: LinearLayer;
  readonly #form: QuantizedForm;
  readonly #read: ReadWeights;
  readonly #scales: Float32Array;
  /** How many scales are known, from the first one on. */
  #known = 0;

  constructor(tensor: HostTensor, layer: LinearLayer, form: QuantizedForm) {
    this.layer = layer;
    this.#form = form;
    this.#read = readerOf(tensor, layer);
    this.#scales = new Float32Array(blocksOf(layer, form));
  }

  /** Fills `target` with bytes, from four times `first` on. */
  copyBytes(target: Float32Array, first: number): void {
    const width = blockBytes[this.#form] / Float32Array.BYTES_PER_ELEMENT;
    const begin = Math.floor(first / width);
    const end = Math.ceil((first + target.length) / width);
    if (first % width === 0 && target.length % width === 0) this.#round(target, begin, end);
    else {
      const blocks = new Float32Array((end - begin) * width);
      this.#round(blocks, begin, end);
      target.set(blocks.subarray(first - begin * width, first - begin * width + target.length));
    }
  }

  copyScales(target: Float32Array, first: number): void {
    const end = this.#scales.length;
    const missing = (end - this.#known) * blockBytes[this.#form];
    if (missing > 0) this.#round(new Float32Array(missing / 4), this.#known, end);
    target.set(this.#scales.subarray(first, first + target.length));
  }

  #round({ buffer, byteOffset, byteLength }: Float32Array, first: number, end: number): void {
    roundBlocks(this.#read, {
      ...{ layer: this.layer, form: this.#form, first },
      bytes: new Uint8Array(buffer, byteOffset, byteLength),
      scales: this.#scales.subarray(first, end),
    });
    if (first <= this.#known) this.#known = Math.max(this.#known, end);
  }
}

function readTensor(shape: readonly [number], copyTo: ReadWeights): HostTensor {
  return {
    shape,
    copyTo,
    get data() {
      return numbersOf({ shape, copyTo, data: new Float32Array() });
    },
  };
}

/** The matrix of a layer in a store whose tensors `read` gives. It shares their memory. */
export function storedMatrix(
  read: (name: string) => Float32Array,
  layer: LinearLayer,
  form: QuantizedForm,
): QuantizedMatrix {
  requireArguments('storedMatrix', { read: 'function' }, read);
  blocksOf(layer, form);
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
  requireArguments('quantizedProduct', { parameter: 'function' }, parameter);
  const blocks = blocksOf(layer, form);
  const names = quantizedNames(layer.weight, form);
  const matrix = {
    bytes: parameter(names.bytes, 'uint8', [blocks, blockBytes[form]]),
    scales: parameter(names.scales, 'float32', [blocks]),
  };
  return form === 'int8' ? quantizedLinear(x, matrix) : nf4Linear(x, matrix, layer.outputs);
}
