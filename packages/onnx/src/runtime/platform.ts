import type { NativeRuntime, NativeSession } from './native/native.ts';
import type { ExecutionProvider, OperatorTime } from './protocol.ts';

/** Times of operators, from the profiles that sessions write. */
export interface SessionProfiler {
  /** A new file prefix for a session's profile. */
  prefix(): string;
  /** Ends a session's profiling and adds its times. */
  collect(session: NativeSession): void;
  /** Sums so far, most expensive first. */
  times(): OperatorTime[];
  /** Removes the profile files. */
  dispose(): void;
}

/** What an engine needs of where it runs: Node or a page. */
export interface Platform {
  /** Loads ONNX Runtime, in the way that a provider needs. */
  loadRuntime(provider: ExecutionProvider): Promise<NativeRuntime>;
  /** Imports the module of a program. */
  importModule(url: URL): Promise<unknown>;
  /** What to do so that a provider works here. Default: a general sentence. */
  providerAdvice?(provider: ExecutionProvider): string | undefined;
  /** Measures operators. Absent where nothing can. */
  createProfiler?(): SessionProfiler;
}
