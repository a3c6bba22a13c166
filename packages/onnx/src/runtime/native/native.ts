import type { Tensor } from 'onnxruntime-common';

import type { ExecutionProvider, SessionOptions, Tensors } from '../protocol.ts';

/** ONNX Runtime as the engine uses it, through either interface. */
export interface NativeRuntime {
  /**
   * `'binding'` writes outputs in place through private files of onnxruntime-node. `'public'` uses the public
   * interface. `'bound'` uses the C interface, which CUDA needs.
   */
  readonly access: 'binding' | 'public' | 'bound';
  /** Note for users of this runtime, if any. */
  readonly note?: string | undefined;
  /** Compiled-in execution providers. Those that are not bundled need additional libraries. */
  backends(): readonly { readonly name: string; readonly bundled: boolean }[];
  /** Creates a tensor over `data` without copying. */
  tensor(type: Tensor.Type, data: Tensor.DataType, shape: readonly number[]): Tensor;
  createSession(model: Uint8Array, options: NativeSessionOptions): Promise<NativeSession>;
  /** Memory of the device. Absent where tensors cannot lie within others. */
  readonly memory?: DeviceMemory | undefined;
}

/** Memory of a device in which tensors can lie within others. */
export interface DeviceMemory {
  /** A float32 tensor of one axis, all 0. */
  zeros(length: number): Tensor;
  /** A tensor over part of another one, from an element on. It owns nothing. */
  window(tensor: Tensor, first: number, shape: readonly number[]): Tensor;
  /** Copies all elements of a tensor of host or device into one of the device, which has as many. */
  copy(source: Tensor, target: Tensor): void;
  /** Frees what moves tensors. All tensors must have been disposed of. */
  release(): Promise<void>;
}

/** How the engine creates each session. */
export interface NativeSessionOptions extends SessionOptions {
  readonly executionProvider: ExecutionProvider;
  readonly threads: number;
  /** Prefix of the file for ONNX Runtime's profile. Default: no profile. */
  readonly profileFilePrefix?: string;
}

/** A compiled graph. */
export interface NativeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Computes the outputs `fetch`. Outputs in `into` are written in place and returned. */
  run(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors>;
  /** Ends profiling and writes the profile file. */
  endProfiling(): void;
  release(): Promise<void>;
}
