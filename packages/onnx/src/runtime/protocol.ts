import type { Tensor } from 'onnxruntime-common';

/** Hardware that ONNX Runtime computes on. */
export type ExecutionProvider = 'cpu' | 'webgpu' | 'cuda' | 'coreml' | 'dml';

/** How an engine is started. */
export interface EngineOptions {
  /**
   * `'worker'` (default) computes in a worker thread, so the caller's event loop is never blocked; `'inline'` computes on
   * the calling thread, which suits tests and short scripts.
   */
  readonly thread?: 'worker' | 'inline';
  /** Default `'cpu'`. An unavailable one is an `EngineError` that lists those this machine has. */
  readonly executionProvider?: ExecutionProvider;
  /** Threads of one operator. Default: as many as the machine has cores. */
  readonly threads?: number;
  /**
   * `'on'` collects the time of every operator, `'runs'` only that of whole runs of sessions, which costs nothing; see
   * {@link Engine.profile}. Default `'off'`.
   */
  readonly profiling?: 'on' | 'runs' | 'off';
  /** How long to wait before giving up on a stuck driver or thread. */
  readonly timeouts?: EngineTimeouts;
}

/** Limits in milliseconds; `Infinity` waits for ever. A limit that passes is a `TimeoutError`. */
export interface EngineTimeouts {
  /** For the thread to load ONNX Runtime and its execution provider to answer. Default 60 000. */
  readonly startMs?: number;
  /** For the engine's own requests: creating, writing and reading stores, starting programs, the profile. Default 300 000. */
  readonly requestMs?: number;
  /** For one call of a program's method. Default `Infinity`. */
  readonly callMs?: number;
  /** For programs to end on {@link Engine.close}; then the thread is terminated. Default 5 000. */
  readonly closeMs?: number;
}

/** A tensor that a parameter store holds. */
export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

/** A named set of float32 tensors inside the engine, shared by every program that runs there. */
export interface StoreSpec {
  readonly name: string;
  readonly parameters: readonly ParameterSpec[];
  /**
   * Buffers of the same layout kept beside the values, each as large as all values together:
   * `gradient`, `moment1` and `moment2` for training.
   */
  readonly slots?: readonly string[];
}

/** Shape and elements of a tensor on its way into a store or out of one. */
export interface StoreTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** Tensors by the names of parameters. */
export type StoreTensors = ReadonlyMap<string, StoreTensor>;

/**
 * A program: a module that runs inside the engine's thread.
 *
 * Its default export is a {@link ProgramFactory}. `url` points at the built `.js` beside the caller's own module or, when
 * running from source, at the `.ts`; see `programUrl`.
 */
export interface ProgramReference<Methods extends ProgramMethods> {
  readonly url: URL;
  /** Carries the type only. */
  readonly methods?: Methods;
}

/** What a program offers: asynchronous methods of one structured-cloneable argument. */
export type ProgramMethods = Record<string, (argument: never, call: CallContext) => unknown>;

/** Given to a program's method with each call. */
export interface CallContext {
  /** Aborts when the caller's signal does, or when the engine closes. */
  readonly signal: AbortSignal;
  /** Sends an event to the caller's `onEvent`. */
  emit(event: unknown): void;
  /** Hands buffers of the method's result over to the caller instead of copying them. They become unusable here. */
  transfer(...buffers: readonly ArrayBuffer[]): void;
}

/** Builds a program inside the engine. `options` is what the caller passed to {@link Engine.start}. */
export type ProgramFactory<Methods extends ProgramMethods, Options = never> = (
  host: EngineHost,
  options: Options,
) => Methods | Promise<Methods>;

/** Options of one call of a program's method. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: never) => void) | undefined;
  /** Buffers handed over instead of copied. */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

/** A program as seen by its caller. */
export interface RunningProgram<Methods extends ProgramMethods> {
  /**
   * Calls a method inside the engine. Calls start in the order they are made and interleave where the program awaits.
   * Errors thrown there arrive here with class and message intact.
   */
  call<Name extends keyof Methods & string>(
    method: Name,
    argument: Parameters<Methods[Name]>[0],
    options?: CallOptions,
  ): Promise<Awaited<ReturnType<Methods[Name]>>>;
  /** Ends the program: aborts its calls, calls its `close` method if it has one. Does nothing if its engine has ended. */
  stop(): Promise<void>;
}

/** One thread with ONNX Runtime in it: parameter stores, and programs that compute with them. */
export interface Engine {
  readonly executionProvider: ExecutionProvider;
  readonly threads: number;
  /**
   * Allocates a store, zero-filled but for `contents`, which are copied piece by piece: memory and the caller's event loop feel
   * less of it than of {@link Engine.writeStore}. Rejects with an `EngineError` if the name is taken, with an `ArgumentError`
   * if the contents are not what the store holds.
   */
  createStore(spec: StoreSpec, contents?: StoreTensors): Promise<void>;
  /** Whether a store of this name exists or is being created. */
  hasStore(name: string): boolean;
  /**
   * Whether a store was created with these tensors among its contents, whatever was written to it since. Compared are shapes
   * and 64 values of each; of a store created without contents nothing is known, and the answer is true.
   */
  wasCreatedWith(name: string, tensors: StoreTensors): boolean;
  /**
   * Copies tensors into a store (or into one of its slots), all between two steps of whatever program runs. Unknown names
   * and wrong shapes are `ArgumentError`s.
   */
  writeStore(name: string, tensors: StoreTensors, slot?: string): Promise<void>;
  /** Copies a store (or one of its slots) out. */
  readStore(name: string, slot?: string): Promise<Map<string, StoreTensor>>;
  /**
   * Frees a store: on a device at once, where the next run of a program that still uses it fails; on the host once no program
   * does. Does nothing once the engine has ended, which frees all of them.
   */
  deleteStore(name: string): Promise<void>;
  /** Starts a program inside the engine, once the stores being created are complete. */
  start<Methods extends ProgramMethods>(
    program: ProgramReference<Methods>,
    options: unknown,
  ): Promise<RunningProgram<Methods>>;
  /**
   * Time by operator since the engine started, most expensive first; empty unless `profiling` is `'on'`. With `'runs'`, one
   * entry named `session.run`.
   */
  profile(): Promise<readonly OperatorTime[]>;
  /** Stops every program and frees the thread. Pending calls reject with an `EngineError`. Idempotent. */
  close(): Promise<void>;
}

/** Time spent in one kind of operator. */
export interface OperatorTime {
  readonly operator: string;
  readonly count: number;
  readonly milliseconds: number;
}

/** The engine as seen from inside, by a program. */
export interface EngineHost {
  readonly executionProvider: ExecutionProvider;
  readonly threads: number;
  /** The store of that name. Throws an `EngineError` if there is none. */
  store(name: string): ParameterStore;
  createStore(spec: StoreSpec): ParameterStore;
  deleteStore(name: string): void;
  createSession(model: Uint8Array, options?: SessionOptions): Promise<EngineSession>;
  /** Lets messages in (aborts, new calls) between two runs: a session's run blocks the thread. */
  yield(): Promise<void>;
}

/** How a session is created. */
export interface SessionOptions {
  /** `'all'` (default) or `'none'`, which keeps the graph exactly as built. */
  readonly graphOptimization?: 'all' | 'none';
  /** Folder that external initialisers are relative to. */
  readonly externalDataFolder?: string;
  /** Outputs that stay on the device, on providers that have one. */
  readonly deviceOutputs?: readonly string[];
  /**
   * How long threads that have nothing to do wait busily before they sleep, in microseconds; 0 sleeps at once. Default: ONNX
   * Runtime's own. Many short operators in a row do better with less, above all where processors are shared.
   */
  readonly spinMicroseconds?: number;
}

/** Tensors by name. */
export type Tensors = Readonly<Record<string, Tensor>>;

/** A compiled graph. */
export interface EngineSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /**
   * Runs the graph. Outputs given in `into` are written in place (their buffers are the result); all others of `fetch`
   * (default: every output) are returned as new tensors.
   */
  run(
    feeds: Tensors,
    options?: { readonly into?: Tensors; readonly fetch?: readonly string[] },
  ): Promise<Tensors>;
  release(): Promise<void>;
}

/**
 * Parameters inside the engine. On the CPU they live in one WebAssembly memory: sessions read them in place and write
 * gradients in place, and {@link ParameterStore.data} are views of the same bytes. On a device they are device buffers
 * and `data` is unavailable; `tensor` works on both.
 */
export interface ParameterStore {
  readonly name: string;
  readonly parameters: readonly ParameterSpec[];
  readonly residency: 'host' | 'device';
  /** Tensor over a parameter's value (or its part of a slot), to feed to a session or to receive an output. */
  tensor(parameter: string, slot?: string): Tensor;
  /**
   * View of a parameter's value (or its part of a slot). Host residency only. Never return a view from a program's method
   * (cloning a view clones the whole memory under it): return `view.slice()`.
   */
  data(parameter: string, slot?: string): Float32Array;
  /**
   * View of all values (or of a slot) as one array, in the order of `parameters`, with the zero padding between tensors.
   * Host residency only; an `EngineError` for a store that needs several memories, see {@link ParameterStore.segments}.
   */
  all(slot?: string): Float32Array;
  /**
   * The same as {@link ParameterStore.all} in pieces: one view for each WebAssembly memory of the store, laid out alike for
   * every slot. One piece, unless values and slots together pass 4 GiB. Host residency only.
   */
  segments(slot?: string): readonly Float32Array[];
  /** Copies a parameter's value (or its part of a slot) out, from host or device. */
  read(parameter: string, slot?: string): Promise<Float32Array>;
  /** Copies `data` into a parameter's value (or its part of a slot), on host or device. */
  write(parameter: string, data: Float32Array, slot?: string): Promise<void>;
  /**
   * Installs a tensor, such as an in-graph optimizer's output, as a parameter's value (or its part of a slot). A device store
   * takes ownership and disposes the tensor it held before; a host store copies the data.
   */
  replace(parameter: string, tensor: Tensor, slot?: string): void;
  /** Kernels over this memory. Host residency only. */
  readonly kernels: HostKernels;
}

/**
 * WebAssembly SIMD kernels over a store's memory. Arguments are views that the store gave out; arrays from elsewhere give the
 * same result more slowly. Zero padding stays zero.
 */
export interface HostKernels {
  /** One AdamW update of `value` in place; decay is decoupled: `p ← p·(1 − lr·decay) − lr·m̂/(√v̂ + ε)`. */
  adamw(
    state: { value: Float32Array; gradient: Float32Array; moment1: Float32Array; moment2: Float32Array },
    step: {
      learningRate: number;
      beta1: number;
      beta2: number;
      epsilon: number;
      weightDecay: number;
      /** 1 for the first update. */
      update: number;
    },
  ): void;
  /** Σ x². */
  sumOfSquares(x: Float32Array): number;
  /** x ← a·x. */
  scale(x: Float32Array, a: number): void;
  /** y ← a·y + b·x. */
  combine(y: Float32Array, a: number, x: Float32Array, b: number): void;
  /**
   * `target[indices[n]] += rows[n]` for every n, in order, so repeated indices add up (ONNX Runtime's `ScatterND` races on
   * them). `target: [V, d]`, `rows: [N, d]`, `indices: [N]`; d is `rows.length / indices.length`. Rows and indices may lie
   * outside the store's memory.
   */
  scatterAddRows(target: Float32Array, rows: Float32Array, indices: Int32Array | BigInt64Array): void;
}
