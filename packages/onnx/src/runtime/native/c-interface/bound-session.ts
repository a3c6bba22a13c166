import type { Tensor } from 'onnxruntime-common';
import type { Tensors } from '../../protocol.ts';
import type { NativeSession } from '../native.ts';
import type { OrtInterface, Pointer } from './interface.ts';
import { DeviceBuffer, type Memories, type OrtValues } from './values.ts';

/** What a {@link BoundSession} is made of. */
export interface BoundSessionParts {
  readonly ort: OrtInterface;
  readonly values: OrtValues;
  readonly memories: Memories;
  readonly allocator: Pointer;
  readonly session: Pointer;
  /** Outputs that stay on the device. */
  readonly deviceOutputs: readonly string[];
}

/**
 * A session whose inputs and outputs are bound to memory of host or device.
 *
 * What was bound last stays bound, so a run binds only inputs that changed.
 */
export class BoundSession implements NativeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #parts: BoundSessionParts;
  readonly #binding: Pointer;
  readonly #onDevice: ReadonlySet<string>;
  /** What of a device inputs are bound to. A value's address alone may be that of an earlier one. */
  readonly #bound = new Map<string, { readonly buffer: DeviceBuffer; readonly value: Pointer }>();
  /** Host tensors that inputs are bound to, so that their memory lives. */
  readonly #held = new Map<string, Tensor>();

  constructor(parts: BoundSessionParts) {
    const { ort, session, deviceOutputs } = parts;
    this.#parts = parts;
    this.#onDevice = new Set(deviceOutputs);
    this.inputNames = this.#names('SessionGetInputCount', 'SessionGetInputName');
    this.outputNames = this.#names('SessionGetOutputCount', 'SessionGetOutputName');
    this.#binding = ort.make('CreateIoBinding', session);
  }

  async run(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors> {
    return this.runNow(feeds, fetch, into);
  }

  runNow(feeds: Tensors, fetch: readonly string[], into: Tensors): Tensors {
    const { ort, session } = this.#parts;
    let copied = false;
    for (const name of this.inputNames) {
      const tensor = feeds[name];
      if (tensor === undefined) throw new TypeError(`input "${name}" is missing from the feeds`);
      copied = this.#bindInput(name, tensor) === 'copied' || copied;
    }
    if (copied) ort.call('SynchronizeBoundInputs', this.#binding);
    ort.call('ClearBoundOutputs', this.#binding);
    for (const name of fetch) this.#bindOutput(name, into[name]);
    ort.call('RunWithBinding', session, null, this.#binding);
    const results = this.#results(fetch, into);
    ort.call('ClearBoundOutputs', this.#binding);
    return results;
  }

  /** Lets go of what the last run read. */
  forget(): void {
    this.#parts.ort.call('ClearBoundInputs', this.#binding);
    this.#bound.clear();
    this.#held.clear();
  }

  endProfiling(): void {
    const { ort, session, allocator } = this.#parts;
    ort.call('AllocatorFree', allocator, ort.make('SessionEndProfiling', session, allocator));
  }

  async release(): Promise<void> {
    const { ort, session } = this.#parts;
    ort.call('ReleaseIoBinding', this.#binding);
    ort.call('ReleaseSession', session);
    this.#held.clear();
  }

  /** Device tensors are bound as they are. Host tensors are copied to where the session reads them. */
  #bindInput(name: string, tensor: Tensor): 'bound' | 'copied' {
    const { ort, values } = this.#parts;
    if (tensor.location !== 'gpu-buffer') {
      values.during(tensor, (value) => ort.call('BindInput', this.#binding, name, value));
      this.#held.set(name, tensor);
      this.#bound.delete(name);
      return 'copied';
    }
    const buffer = deviceBuffer(tensor);
    const value = buffer.valueOf(tensor.dims);
    const bound = this.#bound.get(name);
    if (bound?.buffer === buffer && bound.value === value) return 'bound';
    ort.call('BindInput', this.#binding, name, value);
    this.#bound.set(name, { buffer, value });
    this.#held.delete(name);
    return 'bound';
  }

  #bindOutput(name: string, given: Tensor | undefined): void {
    const { ort, values, memories } = this.#parts;
    if (given === undefined) {
      const memory = this.#onDevice.has(name) ? memories.device : memories.host;
      ort.call('BindOutputToDevice', this.#binding, name, memory);
    } else if (given.location === 'gpu-buffer') {
      ort.call('BindOutput', this.#binding, name, deviceBuffer(given).valueOf(given.dims));
    } else {
      values.during(given, (value) => ort.call('BindOutput', this.#binding, name, value));
    }
  }

  #results(fetch: readonly string[], into: Tensors): Tensors {
    const { ort, allocator } = this.#parts;
    const count = new BigUint64Array(1);
    const array = new BigUint64Array(1);
    ort.call('GetBoundOutputValues', this.#binding, allocator, array, count);
    const made = ort.pointers(array[0]!, Number(count[0]!));
    ort.call('AllocatorFree', allocator, array[0]!);
    return Object.fromEntries(
      fetch.map((name, index) => [name, this.#result(name, into[name], made[index]!)]),
    );
  }

  #result(name: string, given: Tensor | undefined, value: Pointer): Tensor {
    const { values } = this.#parts;
    if (given === undefined && this.#onDevice.has(name)) return values.deviceTensor(value);
    const tensor = given ?? values.hostTensor(value);
    values.release(value);
    return tensor;
  }

  #names(
    countOf: 'SessionGetInputCount' | 'SessionGetOutputCount',
    nameOf: 'SessionGetInputName' | 'SessionGetOutputName',
  ) {
    const { ort, session, allocator } = this.#parts;
    const count = Number(ort.make(countOf, session));
    return Array.from({ length: count }, (_, index) => {
      const pointer = ort.make(nameOf, session, index, allocator);
      const name = ort.text(pointer);
      ort.call('AllocatorFree', allocator, pointer);
      return name;
    });
  }
}

/** Memory of a device tensor. @throws TypeError for one of another engine. */
export function deviceBuffer(tensor: Tensor): DeviceBuffer {
  const buffer: unknown = tensor.gpuBuffer;
  if (buffer instanceof DeviceBuffer) return buffer;
  throw new TypeError('expected a tensor of this engine, got one of another device');
}
