import { EngineError } from '@rlp/core';
import { Tensor } from 'onnxruntime-common';
import { elementCount } from '../../../graph/shape.ts';
import { elementTypes, type NumericData } from '../element-types.ts';
import type { OrtInterface, Pointer } from './interface.ts';

/** Where a tensor's memory is. */
export interface Memories {
  readonly host: Pointer;
  readonly device: Pointer;
}

const typeNumbers = new Map(Object.entries(elementTypes).map(([number, [type]]) => [type, Number(number)]));

/** Values of ONNX Runtime: tensors in the memory of the host or of the device. */
export class OrtValues {
  readonly #ort: OrtInterface;
  readonly #memories: Memories;

  constructor(ort: OrtInterface, memories: Memories) {
    this.#ort = ort;
    this.#memories = memories;
  }

  /** Lends a value over a host tensor's own memory, which must outlive what uses it. */
  during({ type, data, dims }: Tensor, use: (value: Pointer) => void): void {
    const { byteLength } = data as NumericData;
    const value = this.#over(this.#memories.host, data as NumericData, byteLength, type, dims);
    try {
      use(value);
    } finally {
      this.release(value);
    }
  }

  /** A tensor that owns a value in the memory of the device, or a view of one. */
  deviceTensor(value: Pointer): Tensor {
    const { type, dims } = this.describe(value);
    const buffer = new DeviceBuffer(this, type, dims, value);
    return Tensor.fromGpuBuffer(buffer as never, {
      dataType: type as 'float32',
      dims,
      dispose: () => buffer.free(),
    });
  }

  /** A host tensor with a copy of a value in the memory of the host. */
  hostTensor(value: Pointer): Tensor {
    const { type, dims } = this.describe(value);
    const [, allocate] = elementTypes[typeNumbers.get(type)!]!;
    const data = allocate(elementCount(dims));
    if (data.byteLength > 0) {
      const source = new Uint8Array(this.#ort.memory(this.address(value), data.byteLength));
      new Uint8Array(data.buffer, data.byteOffset, data.byteLength).set(source);
    }
    return new Tensor(type, data, dims);
  }

  /** Element type and shape of a value. */
  describe(value: Pointer): { readonly type: Tensor.Type; readonly dims: readonly number[] } {
    const information = this.#ort.make('GetTensorTypeAndShape', value);
    try {
      const element = this.#ort.number('GetTensorElementType', information);
      const known = elementTypes[element];
      if (!known) throw new TypeError(`tensors of ONNX's element type ${element} are not supported`);
      const sizes = new BigInt64Array(Number(this.#ort.make('GetDimensionsCount', information)));
      this.#ort.call('GetDimensions', information, sizes, sizes.length);
      return { type: known[0], dims: [...sizes].map(Number) };
    } finally {
      this.#ort.call('ReleaseTensorTypeAndShapeInfo', information);
    }
  }

  /** Address of a value's elements. */
  address(value: Pointer): Pointer {
    return this.#ort.make('GetTensorMutableData', value);
  }

  /** A value of another shape over elements on the device. */
  overDevice(address: Pointer, type: Tensor.Type, dims: readonly number[]): Pointer {
    const bytes = elementBytes(type) * elementCount(dims);
    return this.#over(this.#memories.device, address, bytes, type, dims);
  }

  release(value: Pointer): void {
    this.#ort.call('ReleaseValue', value);
  }

  #over(
    memory: Pointer,
    data: Pointer | NumericData,
    bytes: number,
    type: Tensor.Type,
    dims: readonly number[],
  ): Pointer {
    const number = typeNumbers.get(type);
    if (number === undefined) throw new TypeError(`tensors of ${type} are not supported on this provider`);
    const shape = BigInt64Array.from(dims, BigInt);
    return this.#ort.make('CreateTensorWithDataAsOrtValue', memory, data, bytes, shape, shape.length, number);
  }
}

function elementBytes(type: Tensor.Type): number {
  const [, allocate] = elementTypes[typeNumbers.get(type)!]!;
  return allocate(0).BYTES_PER_ELEMENT;
}

/** Memory of a device, as the `gpuBuffer` of tensors over it. */
export class DeviceBuffer {
  readonly #values: OrtValues;
  readonly #type: Tensor.Type;
  readonly #own: string;
  /** Values over this memory by shape. The first owns it. */
  readonly #shaped: Map<string, Pointer>;

  constructor(values: OrtValues, type: Tensor.Type, dims: readonly number[], value: Pointer) {
    this.#values = values;
    this.#type = type;
    this.#own = dims.join();
    this.#shaped = new Map([[this.#own, value]]);
  }

  /** A value of this shape over the memory. A smaller one has its first elements. */
  valueOf(dims: readonly number[]): Pointer {
    const key = dims.join();
    const known = this.#shaped.get(key);
    if (known !== undefined) return known;
    const value = this.#values.overDevice(this.addressOf(0), this.#type, dims);
    this.#shaped.set(key, value);
    return value;
  }

  /** Address of an element. */
  addressOf(element: number): Pointer {
    const own = this.#shaped.get(this.#own);
    if (own === undefined) throw new EngineError('a device tensor must outlive its runs, but was disposed');
    return this.#values.address(own) + BigInt(element * elementBytes(this.#type));
  }

  free(): void {
    for (const [, value] of [...this.#shaped].reverse()) this.#values.release(value);
    this.#shaped.clear();
  }
}
