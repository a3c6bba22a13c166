import type { Tensor } from 'onnxruntime-common';
import type { ExecutionProvider, Residency } from './providers.ts';
import type { CodedNumbers } from './stores/coded-numbers.ts';

export type { ExecutionProvider, Residency } from './providers.ts';

/** A tensor that a parameter store holds. */
export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

/** A named set of float32 tensors in the engine, shared by all programs there. */
export interface StoreSpec {
  readonly name: string;
  readonly parameters: readonly ParameterSpec[];
  /**
   * Buffers with the same layout beside the values, such as `gradient`, `moment1` and `moment2`. Default
   * none.
   *
   * Each is as large as all values together.
   */
  readonly slots?: readonly string[];
}

/** Shape and elements of a tensor that is copied into or out of a store. */
export interface StoreTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
  /** Fills `target` with the numbers from `first` on, and keeps nothing. Absent where they are in `data` anyway. */
  copyTo?(target: Float32Array, first: number): void;
}

/** Tensors by parameter name. */
export type StoreTensors = ReadonlyMap<string, StoreTensor>;

/**
 * A program: a module that runs inside the engine's thread.
 *
 * Its default export is a {@link ProgramFactory}. `url` is its built `.js`, or its `.ts` when running from
 * source. Use `programUrl` to get it.
 */
export interface ProgramReference<Methods extends ProgramMethods> {
  readonly url: URL;
  /**
   * Imports the module, for an engine in the caller's own thread: a bundler that follows imports then takes it along. Default: the
   * engine imports `url`.
   */
  readonly load?: (() => Promise<unknown>) | undefined;
  /** Type of the methods. No value is needed. */
  readonly methods?: Methods;
}

/** Methods of a program. Each is asynchronous and takes one argument that can be cloned. */
export type ProgramMethods = Record<string, (argument: never, call: CallContext) => unknown>;

/** Context of one call, passed to the program's method. */
export interface CallContext {
  /** Aborts when the caller's signal aborts or the engine closes. */
  readonly signal: AbortSignal;
  /** Sends an event to the caller's `onEvent`. */
  emit(event: unknown): void;
  /** Moves buffers of the method's result to the caller instead of copying. They become unusable here. */
  transfer(...buffers: readonly ArrayBuffer[]): void;
}

/** Builds a program inside the engine. `options` comes from {@link Engine.start}. */
export type ProgramFactory<Methods extends ProgramMethods, Options = never> = (
  host: EngineHost,
  options: Options,
) => Methods | Promise<Methods>;

/** Options of one call of a program's method. */
export interface CallOptions {
  /** Aborts the call. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the events that the method emits. Default: events are dropped. */
  readonly onEvent?: ((event: never) => void) | undefined;
  /** Buffers to move instead of copy. Default none. */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

/** A running program, from the caller's side. */
export interface RunningProgram<Methods extends ProgramMethods> {
  /**
   * Calls a method inside the engine. Errors keep their class and message.
   *
   * Calls start in the order they are made. They interleave when the program awaits.
   */
  call<Name extends keyof Methods & string>(
    method: Name,
    argument: Parameters<Methods[Name]>[0],
    options?: CallOptions,
  ): Promise<Awaited<ReturnType<Methods[Name]>>>;
  /**
   * Ends the program: aborts its calls and runs its `close` method, if any. Does nothing if the engine has
   * ended.
   */
  stop(): Promise<void>;
}

/** One thread with ONNX Runtime, parameter stores, and programs. */
export interface Engine {
  readonly executionProvider: ExecutionProvider;
  /** Where stores keep parameters. */
  readonly residency: Residency;
  readonly threads: number;
  /**
   * Creates a store. Parameters start at 0, or at the values in `contents`.
   *
   * Contents are copied in pieces. This needs less memory and blocks the event loop less than
   * {@link Engine.writeStore}. The `data` of each tensor is read once, in turn, so it may be made when it is asked for. Rejects with an `EngineError` if the name is taken, and with an `ArgumentError` if
   * the contents do not fit.
   *
   * @param origin - Tensors that the contents were made from, which {@link Engine.wasCreatedWith} compares. Default: the contents.
   */
  createStore(spec: StoreSpec, contents?: StoreTensors, origin?: StoreTensors): Promise<void>;
  /** Whether a store of this name exists or is being created. */
  hasStore(name: string): boolean;
  /**
   * Whether a store was created with these tensors among its contents, regardless of later writes.
   *
   * Compares shapes and 64 values of each tensor. True for a store that was created without contents.
   */
  wasCreatedWith(name: string, tensors: StoreTensors): boolean;
  /**
   * Copies tensors into a store or one of its slots, between two steps of running programs.
   *
   * Unknown names and wrong shapes are `ArgumentError`s.
   */
  writeStore(name: string, tensors: StoreTensors, slot?: string): Promise<void>;
  /** Returns a copy of a store or one of its slots. */
  readStore(name: string, slot?: string): Promise<Map<string, StoreTensor>>;
  /**
   * Frees a store. Does nothing if the engine has ended.
   *
   * On a device, memory is freed at once, and the next run of a program that still uses it fails. On the
   * host, it is freed when no program uses it any more.
   */
  deleteStore(name: string): Promise<void>;
  /** Starts a program inside the engine, after pending stores are complete. */
  start<Methods extends ProgramMethods>(
    program: ProgramReference<Methods>,
    options: unknown,
  ): Promise<RunningProgram<Methods>>;
  /**
   * Time by operator since the engine started, most expensive first.
   *
   * Empty unless `profiling` is `'on'` or `'runs'`. `'runs'` gives one entry, `session.run`.
   */
  profile(): Promise<readonly OperatorTime[]>;
  /** Stops all programs and frees the thread. Pending calls reject with an `EngineError`. Can be called again. */
  close(): Promise<void>;
}

/** Time spent in one kind of operator. */
export interface OperatorTime {
  readonly operator: string;
  readonly count: number;
  readonly milliseconds: number;
}

/** The engine from inside, as programs see it. */
export interface EngineHost {
  readonly executionProvider: ExecutionProvider;
  /** Where stores keep parameters. */
  readonly residency: Residency;
  readonly threads: number;
  /** Returns the store of that name. Throws an `EngineError` if it does not exist. */
  store(name: string): ParameterStore;
  createStore(spec: StoreSpec): ParameterStore;
  deleteStore(name: string): void;
  createSession(model: Uint8Array, options?: SessionOptions): Promise<EngineSession>;
  /**
   * Processes messages such as aborts and new calls. A session's run blocks the thread, so call this between
   * runs.
   */
  yield(): Promise<void>;
}

/** Options of a session. */
export interface SessionOptions {
  /** `'none'` keeps the graph exactly as built. Default `'all'`. */
  readonly graphOptimization?: 'all' | 'none';
  /** Folder that file paths of external initializers are relative to. Default: no folder. */
  readonly externalDataFolder?: string;
  /** Called when the folder may be removed: after the graph was compiled or refused. With profiling, when the session is released. */
  readonly onCompiled?: () => void;
  /** Outputs that stay on the device, if the provider has one. Default none. */
  readonly deviceOutputs?: readonly string[];
  /**
   * How long idle threads spin before they sleep, in microseconds. 0 sleeps at once. Default: ONNX Runtime's.
   *
   * For sequences of many short operators, less is better, above all on shared processors.
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
   * Runs the graph.
   *
   * Outputs given in `into` are written in place. The other outputs of `fetch` are returned as new tensors.
   * By default `fetch` is every output. A tensor of a device may be both an input and an output, in sessions without
   * {@link SessionOptions.deviceOutputs}.
   */
  run(
    feeds: Tensors,
    options?: { readonly into?: Tensors; readonly fetch?: readonly string[] },
  ): Promise<Tensors>;
  release(): Promise<void>;
}

/**
 * Parameters inside the engine.
 *
 * On the CPU, they live in WebAssembly memory that sessions read and write in place.
 * {@link ParameterStore.data} returns views of the same bytes. On a device, they are device buffers, and `data` is
 * unavailable. `tensor` works on both.
 */
export interface ParameterStore {
  readonly name: string;
  readonly parameters: readonly ParameterSpec[];
  readonly residency: Residency;
  /** Tensor over a parameter's value or its part of a slot. Use it as a feed or an output. */
  tensor(parameter: string, slot?: string): Tensor;
  /**
   * View of a parameter's value or its part of a slot. Host only.
   *
   * Never return a view from a program's method: cloning a view clones the whole memory. Return
   * `view.slice()`.
   */
  data(parameter: string, slot?: string): Float32Array;
  /**
   * View of all values or of a slot as one array, in the order of `parameters`. Host only.
   *
   * Includes the zero padding between tensors. Throws an `EngineError` for a store that needs several
   * memories. Use {@link ParameterStore.segments} then.
   */
  all(slot?: string): Float32Array;
  /**
   * {@link ParameterStore.all} in pieces: one view per WebAssembly memory. Host only.
   *
   * All slots have the same layout. There is one piece unless values and slots together exceed 4 GiB.
   */
  segments(slot?: string): readonly Float32Array[];
  /** Returns a copy of a parameter's value or its part of a slot, from host or device. */
  read(parameter: string, slot?: string): Promise<Float32Array>;
  /** Copies `data` into a parameter's value or its part of a slot, on host or device. */
  write(parameter: string, data: Float32Array, slot?: string): Promise<void>;
  /**
   * Replaces a parameter's value or its part of a slot by a tensor, such as the output of an in-graph
   * optimizer.
   *
   * A device store takes ownership and disposes the previous tensor. A host store copies the data.
   */
  replace(parameter: string, tensor: Tensor, slot?: string): void;
  /** Kernels over this memory. Host only. */
  readonly kernels: HostKernels;
  /**
   * All parameters, or their parts of a slot, in as few tensors as the device allows. Only on devices. Parameters of a stretch have one
   * axis or all have more, and numbers between them are 0. Call {@link ParameterStore.touch} after writing to the values.
   */
  stretches?(slot?: string): readonly Stretch[];
  /** Rises with every change of the values on a device. */
  readonly revision: number;
  /** Says that values on a device were changed in place. */
  touch(): void;
}

/** Neighbouring parameters of a store. */
export interface Stretch {
  readonly parameters: readonly ParameterSpec[];
  /** The parameter, or all of them with one axis. */
  readonly tensor: Tensor;
}

/**
 * WebAssembly SIMD kernels over a store's memory.
 *
 * Pass views that the store returned. Other arrays give the same result more slowly. Zero padding stays zero.
 */
export interface HostKernels {
  /** One AdamW update of `value` in place, with decoupled decay: `p ← p·(1 − lr·decay) − lr·m̂/(√v̂ + ε)`. */
  adamw(
    state: { value: Float32Array; gradient: Float32Array; moment1: Float32Array; moment2: Float32Array },
    step: {
      learningRate: number;
      beta1: number;
      beta2: number;
      epsilon: number;
      weightDecay: number;
      /** Number of the update. 1 for the first. */
      update: number;
      /** Multiplies the gradient, to clip its norm. Default 1. */
      gradientFactor?: number;
    },
  ): void;
  /** {@link HostKernels.adamw} whose moments are in 8 bits. They are rounded after the update. */
  adamwCoded(
    state: { value: Float32Array; gradient: Float32Array; moment1: CodedNumbers; moment2: CodedNumbers },
    step: Parameters<HostKernels['adamw']>[1],
  ): void;
  /** Σ x². */
  sumOfSquares(x: Float32Array): number;
  /** y ← a·y + b·x. */
  combine(y: Float32Array, a: number, x: Float32Array, b: number): void;
  /**
   * Adds rows: `target[indices[n]] += rows[n]` for every n, in order. Repeated indices add up.
   *
   * ONNX Runtime's `ScatterND` has a race on repeated indices. Shapes: `target: [V, d]`, `rows: [N, d]`,
   * `indices: [N]`. d is `rows.length / indices.length`. Rows and indices may lie outside the store's memory.
   */
  scatterAddRows(target: Float32Array, rows: Float32Array, indices: Int32Array | BigInt64Array): void;
}
