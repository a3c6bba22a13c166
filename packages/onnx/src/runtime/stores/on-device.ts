import { EngineError } from '@rlp/core';
import type { HostKernels, ParameterSpec, StoreSpec } from '../protocol.ts';
import { checkSlot } from './store-layout.ts';

/** What stores on a device have in common: no memory of the host, and a number that says whether values changed. */
export abstract class OnDevice {
  readonly name: string;
  readonly parameters: readonly ParameterSpec[];
  readonly slots: readonly string[];
  readonly residency = 'device';
  #revision = 0;
  #state: 'open' | 'disposed' = 'open';

  constructor(spec: StoreSpec) {
    this.name = spec.name;
    this.parameters = spec.parameters;
    this.slots = spec.slots ?? [];
  }

  get revision(): number {
    return this.#revision;
  }

  touch(): void {
    this.#revision++;
  }

  get kernels(): HostKernels {
    throw this.#missing('kernels');
  }

  data(): Float32Array {
    throw this.#missing('data');
  }

  all(): Float32Array {
    throw this.#missing('all');
  }

  segments(): readonly Float32Array[] {
    throw this.#missing('segments');
  }

  dispose(): void {
    this.#state = 'disposed';
  }

  /** @throws EngineError after the store was deleted; ArgumentError for an unknown slot. */
  protected checkOpen(slot: string | undefined): void {
    if (this.#state === 'disposed')
      throw new EngineError(`store "${this.name}": it was deleted; create it again`);
    checkSlot(this.name, this.slots, slot);
  }

  #missing(member: string): EngineError {
    return new EngineError(
      `store "${this.name}" is on the device, where ${member} is unavailable: use tensor(), read(), write() and replace()`,
    );
  }
}
