import { EngineError } from '@rlp/core';
import type { Tensor } from 'onnxruntime-common';
import type { NativeRuntime } from '../native/native.ts';
import type { HostKernels, ParameterSpec, StoreSpec } from '../protocol.ts';
import { createKernels, scratchBytes } from './kernels.ts';
import type { OwnedStore } from './store.ts';
import { checkLength, checkSlot, layOut, placementOf, type StoreLayout } from './store-layout.ts';
import { type Memory, webAssembly } from './web-assembly.ts';

const pageBytes = 65_536;
const memoryLimitBytes = 65_536 * pageBytes - scratchBytes;

/**
 * A store in WebAssembly memory that ONNX Runtime reads and writes in place.
 *
 * Each memory holds the kernels' scratch space, the values and the slots. Values and slots have the same
 * layout and begin at 64-byte boundaries. A memory never grows, because growing would detach every view.
 */
export class HostStore implements OwnedStore {
  readonly name: string;
  readonly parameters: readonly ParameterSpec[];
  readonly slots: readonly string[];
  readonly residency = 'host';
  /** Sessions read and write the memory of the host in place, which nothing counts. */
  readonly revision = 0;
  readonly kernels: HostKernels;
  readonly #layout: StoreLayout;
  readonly #regions: ReadonlyMap<string | undefined, readonly Float32Array[]>;
  readonly #runtime: Pick<NativeRuntime, 'tensor'>;
  readonly #tensors = new Map<string, Tensor>();

  /** @param limitBytes - Capacity of one memory without the scratch space. */
  constructor(runtime: Pick<NativeRuntime, 'tensor'>, spec: StoreSpec, limitBytes = memoryLimitBytes) {
    this.#runtime = runtime;
    this.name = spec.name;
    this.parameters = spec.parameters;
    this.slots = spec.slots ?? [];
    const regions = [undefined, ...this.slots];
    this.#layout = layOut(spec, regions.length, limitBytes);
    const memories = this.#layout.regionLengths.map((length) =>
      allocate(spec.name, length * 4 * regions.length),
    );
    this.#regions = new Map(
      regions.map((slot, index) => [
        slot,
        memories.map(({ buffer }, segment) => {
          const length = this.#layout.regionLengths[segment]!;
          return new Float32Array(buffer, scratchBytes + index * length * 4, length);
        }),
      ]),
    );
    this.kernels = createKernels(memories);
  }

  tensor(parameter: string, slot?: string): Tensor {
    const key = `${slot ?? ''}\u0000${parameter}`;
    let tensor = this.#tensors.get(key);
    if (!tensor) {
      const { spec } = placementOf(this.name, this.#layout, parameter);
      tensor = this.#runtime.tensor('float32', this.data(parameter, slot), spec.shape);
      this.#tensors.set(key, tensor);
    }
    return tensor;
  }

  data(parameter: string, slot?: string): Float32Array {
    const { segment, offset, length } = placementOf(this.name, this.#layout, parameter);
    return this.segments(slot)[segment]!.subarray(offset, offset + length);
  }

  all(slot?: string): Float32Array {
    const segments = this.segments(slot);
    if (segments.length === 1) return segments[0]!;
    throw new EngineError(
      `store "${this.name}" is spread over ${segments.length} memories because it passes 4 GiB: use segments() instead of all()`,
    );
  }

  segments(slot?: string): readonly Float32Array[] {
    checkSlot(this.name, this.slots, slot);
    return this.#regions.get(slot)!;
  }

  async read(parameter: string, slot?: string): Promise<Float32Array> {
    return this.data(parameter, slot).slice();
  }

  async write(parameter: string, data: Float32Array, slot?: string): Promise<void> {
    checkLength(this.name, placementOf(this.name, this.#layout, parameter), data.length);
    this.data(parameter, slot).set(data);
  }

  replace(parameter: string, tensor: Tensor, slot?: string): void {
    const target = this.data(parameter, slot);
    const data = tensor.data;
    if (!(data instanceof Float32Array)) {
      throw new EngineError(
        `store "${this.name}": "${parameter}" expected a tensor of float32, got ${tensor.type}`,
      );
    }
    checkLength(this.name, placementOf(this.name, this.#layout, parameter), data.length);
    if (data.buffer !== target.buffer || data.byteOffset !== target.byteOffset) target.set(data);
  }

  touch(): void {}

  dispose(): void {
    this.#tensors.clear();
  }
}

function allocate(store: string, bytes: number): Memory {
  const pages = Math.ceil((bytes + scratchBytes) / pageBytes);
  try {
    return new webAssembly.Memory({ initial: pages, maximum: pages });
  } catch (cause) {
    const gib = ((pages * pageBytes) / 2 ** 30).toFixed(2);
    throw new EngineError(
      `createStore "${store}": this process could not allocate ${gib} GiB; use a smaller model, or a machine with more memory`,
      { cause },
    );
  }
}
