import { EngineError } from '@rlp/core';
import type { Tensor } from 'onnxruntime-common';
import { elementCount } from '../../graph/shape.ts';
import type { NativeRuntime } from '../native/native.ts';
import type { StoreSpec, Stretch } from '../protocol.ts';
import type { DeviceTransfer } from './device-transfer.ts';
import { OnDevice } from './on-device.ts';
import type { OwnedStore } from './store.ts';
import { checkLength, layOut, placementOf, type StoreLayout } from './store-layout.ts';

/**
 * A store of device buffers.
 *
 * A parameter that was never written is a host tensor of zeros, which sessions accept too.
 * {@link DeviceStore.write} and {@link DeviceStore.replace} install device tensors.
 */
export class DeviceStore extends OnDevice implements OwnedStore {
  readonly #runtime: Pick<NativeRuntime, 'tensor'>;
  readonly #transfer: DeviceTransfer;
  readonly #layout: StoreLayout;
  readonly #tensors = new Map<string, Tensor>();

  constructor(runtime: Pick<NativeRuntime, 'tensor'>, transfer: DeviceTransfer, spec: StoreSpec) {
    super(spec);
    this.#runtime = runtime;
    this.#transfer = transfer;
    this.#layout = layOut(spec, 1, Number.MAX_SAFE_INTEGER);
  }

  tensor(parameter: string, slot?: string): Tensor {
    const key = this.#key(parameter, slot);
    let tensor = this.#tensors.get(key);
    if (!tensor) {
      const { shape } = placementOf(this.name, this.#layout, parameter).spec;
      tensor = this.#runtime.tensor('float32', new Float32Array(elementCount(shape)), shape);
      this.#tensors.set(key, tensor);
    }
    return tensor;
  }

  stretches(slot?: string): readonly Stretch[] {
    return this.parameters.map((parameter) => ({
      parameters: [parameter],
      tensor: this.tensor(parameter.name, slot),
    }));
  }

  async read(parameter: string, slot?: string): Promise<Float32Array> {
    const tensor = this.#tensors.get(this.#key(parameter, slot));
    if (!tensor) return new Float32Array(placementOf(this.name, this.#layout, parameter).length);
    return this.#transfer.download(tensor);
  }

  async write(parameter: string, data: Float32Array, slot?: string): Promise<void> {
    const placement = placementOf(this.name, this.#layout, parameter);
    checkLength(this.name, placement, data.length);
    this.replace(parameter, await this.#transfer.upload(data, placement.spec.shape), slot);
  }

  replace(parameter: string, tensor: Tensor, slot?: string): void {
    const key = this.#key(parameter, slot);
    checkLength(this.name, placementOf(this.name, this.#layout, parameter), elementCount(tensor.dims));
    if (tensor.type !== 'float32') {
      throw new EngineError(
        `store "${this.name}": "${parameter}" expected a tensor of float32, got ${tensor.type}`,
      );
    }
    const previous = this.#tensors.get(key);
    this.#tensors.set(key, tensor);
    if (previous && previous !== tensor) previous.dispose();
    this.touch();
  }

  override dispose(): void {
    super.dispose();
    for (const tensor of this.#tensors.values()) tensor.dispose();
    this.#tensors.clear();
  }

  #key(parameter: string, slot: string | undefined): string {
    this.checkOpen(slot);
    placementOf(this.name, this.#layout, parameter);
    return `${slot ?? ''}\u0000${parameter}`;
  }
}
