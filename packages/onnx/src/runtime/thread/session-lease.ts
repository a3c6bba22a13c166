import type { Tensor } from 'onnxruntime-common';

import type { NativeSession } from '../native/native.ts';

/**
 * Keeps a compiled graph alive while one of its outputs is on the device.
 *
 * In onnxruntime-node 1.30, a device tensor belongs to the session that computed it. Reading or disposing it
 * after that session was released crashes the process. A retired session is therefore freed with its last
 * tensor.
 */
export class SessionLease {
  readonly native: NativeSession;
  readonly #live = new Set<Tensor>();
  readonly #freed: (lease: SessionLease) => void;
  #state: 'in use' | 'retired' | 'freed' = 'in use';

  /** @param freed - Called when the graph has been freed. */
  constructor(native: NativeSession, freed: (lease: SessionLease) => void) {
    this.native = native;
    this.#freed = freed;
  }

  /** Watches for the disposal of new tensors that are on the device. */
  track(tensors: readonly Tensor[]): void {
    for (const tensor of tensors) {
      if (tensor.location !== 'gpu-buffer' || this.#live.has(tensor)) continue;
      this.#live.add(tensor);
      const dispose = tensor.dispose.bind(tensor);
      tensor.dispose = () => {
        if (!this.#live.delete(tensor)) return;
        dispose();
        if (this.#state === 'retired') void this.#freeWhenUnused();
      };
    }
  }

  /** Frees the graph now, or with its last device tensor. */
  async retire(): Promise<void> {
    if (this.#state !== 'in use') return;
    this.#state = 'retired';
    await this.#freeWhenUnused();
  }

  /** Disposes the remaining device tensors and frees the graph. */
  async end(): Promise<void> {
    for (const tensor of [...this.#live]) tensor.dispose();
    await this.retire();
  }

  async #freeWhenUnused(): Promise<void> {
    if (this.#live.size > 0 || this.#state === 'freed') return;
    this.#state = 'freed';
    await this.native.release();
    this.#freed(this);
  }
}
