import type { Tensor } from 'onnxruntime-common';

import type { ExecutionProvider, SessionOptions, Tensors } from '../protocol.ts';

/** ONNX Runtime as the engine uses it, through either interface. */
export interface NativeRuntime {
  /**
   * `'binding'` writes outputs in place through private files of onnxruntime-node. `'public'` uses the public
   * interface.
   */
  readonly access: 'binding' | 'public';
  /** Note for users of this runtime, if any. */
  readonly note?: string | undefined;
  /** Compiled-in execution providers. Those that are not bundled need additional libraries. */
  backends(): readonly { readonly name: string; readonly bundled: boolean }[];
  /** Creates a tensor over `data` without copying. */
  tensor(type: Tensor.Type, data: Tensor.DataType, shape: readonly number[]): Tensor;
  createSession(model: Uint8Array, options: NativeSessionOptions): Promise<NativeSession>;
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
