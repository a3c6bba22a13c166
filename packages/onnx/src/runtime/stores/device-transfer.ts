import type { Tensor } from 'onnxruntime-common';

import { identityModel } from '../native/identity-model.ts';
import type { NativeRuntime, NativeSession, NativeSessionOptions } from '../native/native.ts';

/**
 * Moves float32 tensors between host and device by running Identity sessions.
 *
 * onnxruntime-node 1.30 has no other safe way. `tensor.getData()` on a device tensor aborts the process.
 */
export class DeviceTransfer {
  readonly #runtime: NativeRuntime;
  readonly #options: NativeSessionOptions;
  #up: Promise<NativeSession> | undefined;
  #down: Promise<NativeSession> | undefined;

  constructor(runtime: NativeRuntime, options: NativeSessionOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /** Copies values to a device tensor. */
  async upload(data: Float32Array, shape: readonly number[]): Promise<Tensor> {
    this.#up ??= this.#session(['y']);
    const session = await this.#up;
    const { y } = await session.run({ x: this.#runtime.tensor('float32', data, shape) }, ['y'], {});
    return y!;
  }

  /** Copies a tensor's values to the host. */
  async download(tensor: Tensor): Promise<Float32Array> {
    if (tensor.location !== 'gpu-buffer') return (tensor.data as Float32Array).slice();
    this.#down ??= this.#session([]);
    const session = await this.#down;
    const { y } = await session.run({ x: tensor }, ['y'], {});
    return (y!.data as Float32Array).slice();
  }

  /** Releases the sessions. */
  async release(): Promise<void> {
    for (const session of [this.#up, this.#down]) await (await session)?.release();
  }

  #session(deviceOutputs: readonly string[]): Promise<NativeSession> {
    return this.#runtime.createSession(identityModel(), { ...this.#options, deviceOutputs });
  }
}
