import type { Tensor } from 'onnxruntime-common';

/** Element types of tensors by their numbers in ONNX, with a buffer for each. */
export const elementTypes: Readonly<Record<number, readonly [Tensor.Type, (length: number) => NumericData]>> =
  {
    1: ['float32', (length) => new Float32Array(length)],
    2: ['uint8', (length) => new Uint8Array(length)],
    3: ['int8', (length) => new Int8Array(length)],
    6: ['int32', (length) => new Int32Array(length)],
    7: ['int64', (length) => new BigInt64Array(length)],
    9: ['bool', (length) => new Uint8Array(length)],
    10: ['float16', (length) => new Uint16Array(length)],
    11: ['float64', (length) => new Float64Array(length)],
  };

/** Data of a tensor of numbers. */
export type NumericData = Exclude<Tensor.DataType, readonly string[]>;
