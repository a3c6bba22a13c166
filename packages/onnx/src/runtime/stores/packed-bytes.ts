import { Tensor } from 'onnxruntime-common';
import type { ParameterStore } from '../protocol.ts';

/** A parameter whose numbers hold four bytes each, as uint8 of `width` columns. It shares the store's memory. Host only. */
export function packedBytes(store: ParameterStore, parameter: string, width: number): Tensor {
  const { buffer, byteOffset, byteLength } = store.data(parameter);
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  return new Tensor('uint8', bytes, [byteLength / width, width]);
}
