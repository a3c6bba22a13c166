import { EngineError } from '@rlp/core';
import type { Tensor } from 'onnxruntime-common';
import { elementCount } from '../../graph/shape.ts';
import type { DeviceMemory, NativeRuntime } from '../native/native.ts';
import type { ParameterSpec, StoreSpec, Stretch } from '../protocol.ts';
import type { DeviceTransfer } from './device-transfer.ts';
import { OnDevice } from './on-device.ts';
import { checkLength, layOut, placementOf, type StoreLayout } from './store-layout.ts';

/** Values, or a slot, in one tensor, and the parameters in it. */
interface Region {
  readonly all: Tensor;
  readonly windows: Map<string, Tensor>;
}

/**
 * A store of one tensor on a device for the values, and one for each slot. Parameters are parts of it that stay where they are.
 *
 * Vectors come first, so that all matrices are neighbours: a graph updates them at once.
 */
export class FlatDeviceStore extends OnDevice {
  readonly #runtime: Pick<NativeRuntime, 'tensor'>;
  readonly #memory: DeviceMemory;
  readonly #transfer: DeviceTransfer;
  readonly #layout: StoreLayout;
  readonly #vectors: readonly ParameterSpec[];
  readonly #matrices: readonly ParameterSpec[];
  readonly #regions = new Map<string, Region>();

  constructor(
    runtime: Pick<NativeRuntime, 'tensor'>,
    memory: DeviceMemory,
    transfer: DeviceTransfer,
    spec: StoreSpec,
  ) {
    super(spec);
    this.#runtime = runtime;
    this.#memory = memory;
    this.#transfer = transfer;
    this.#vectors = spec.parameters.filter(({ shape }) => shape.length < 2);
    this.#matrices = spec.parameters.filter(({ shape }) => shape.length >= 2);
    const parameters = [...this.#vectors, ...this.#matrices];
    this.#layout = layOut({ ...spec, parameters }, 1, Number.MAX_SAFE_INTEGER);
  }

  tensor(parameter: string, slot?: string): Tensor {
    const { offset, spec } = this.#place(parameter, slot);
    const { all, windows } = this.#region(slot);
    const known = windows.get(parameter) ?? this.#memory.window(all, offset, spec.shape);
    windows.set(parameter, known);
    return known;
  }

  stretches(slot?: string): readonly Stretch[] {
    this.checkOpen(slot);
    const { all } = this.#region(slot);
    return [this.#vectors, this.#matrices].flatMap((parameters) => {
      const [first, last] = [parameters[0], parameters.at(-1)];
      if (first === undefined || last === undefined) return [];
      const [start, end] = [this.#place(first.name, slot), this.#place(last.name, slot)];
      const key = `${parameters === this.#vectors ? 'vectors' : 'matrices'}\u0000`;
      const { windows } = this.#region(slot);
      const length = end.offset + end.length - start.offset;
      const tensor = windows.get(key) ?? this.#memory.window(all, start.offset, [length]);
      windows.set(key, tensor);
      return [{ parameters, tensor }];
    });
  }

  async read(parameter: string, slot?: string): Promise<Float32Array> {
    return this.#transfer.download(this.tensor(parameter, slot));
  }

  async write(parameter: string, data: Float32Array, slot?: string): Promise<void> {
    const placement = this.#place(parameter, slot);
    checkLength(this.name, placement, data.length);
    this.#memory.copy(
      this.#runtime.tensor('float32', data, placement.spec.shape),
      this.tensor(parameter, slot),
    );
    this.touch();
  }

  replace(parameter: string, tensor: Tensor, slot?: string): void {
    checkLength(this.name, this.#place(parameter, slot), elementCount(tensor.dims));
    if (tensor.type !== 'float32') {
      throw new EngineError(
        `store "${this.name}": "${parameter}" expected a tensor of float32, got ${tensor.type}`,
      );
    }
    const own = this.tensor(parameter, slot);
    if (tensor === own) return;
    this.#memory.copy(tensor, own);
    tensor.dispose();
    this.touch();
  }

  override dispose(): void {
    super.dispose();
    for (const { all, windows } of this.#regions.values()) {
      for (const window of windows.values()) window.dispose();
      all.dispose();
    }
    this.#regions.clear();
  }

  #place(parameter: string, slot: string | undefined) {
    this.checkOpen(slot);
    return placementOf(this.name, this.#layout, parameter);
  }

  #region(slot = ''): Region {
    const known = this.#regions.get(slot);
    if (known) return known;
    const made = { all: this.#memory.zeros(this.#layout.regionLengths[0]!), windows: new Map() };
    this.#regions.set(slot, made);
    return made;
  }
}
