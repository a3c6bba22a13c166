import type { Tensor } from 'onnxruntime-common';

import type { ExecutionProvider, SessionOptions, Tensors } from '../protocol.ts';

/** ONNX Runtime as the engine uses it, whichever way it is reached. */
export interface NativeRuntime {
  /** `'binding'` writes outputs in place through private files of onnxruntime-node; `'public'` keeps to its public interface. */
  readonly access: 'binding' | 'public';
  /** What users should know about this runtime, if anything. */
  readonly note?: string | undefined;
  /** Execution providers compiled in; those not bundled need libraries of their own. */
  backends(): readonly { readonly name: string; readonly bundled: boolean }[];
  /** A tensor over `data`, which is not copied. */
  tensor(type: Tensor.Type, data: Tensor.DataType, shape: readonly number[]): Tensor;
  createSession(model: Uint8Array, options: NativeSessionOptions): Promise<NativeSession>;
}

/** How the engine creates each session. */
export interface NativeSessionOptions extends SessionOptions {
  readonly executionProvider: ExecutionProvider;
  readonly threads: number;
  /** Where ONNX Runtime writes its profile; none when absent. */
  readonly profileFilePrefix?: string;
}

/** A compiled graph. */
export interface NativeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Computes the outputs `fetch`; those in `into` are written there and are the tensors returned. */
  run(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors>;
  /** Ends profiling and writes the profile file. */
  endProfiling(): void;
  release(): Promise<void>;
}
