import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { InferenceSession, Tensor } from 'onnxruntime-common';
import { elementCount } from '../../graph/shape.ts';
import type { Tensors } from '../protocol.ts';
import { elementTypes } from './element-types.ts';
import { identityModel } from './identity-model.ts';
import type { NativeRuntime, NativeSession, NativeSessionOptions } from './native.ts';
import { onDevice, requireNewOutputs, settleOutput } from './native-public.ts';
import { sessionOptions } from './session-options.ts';

/** Release whose private files this module supports. */
export const knownVersion = '1.30.0';

/** Exports of `onnxruntime-node/dist/binding.js` in {@link knownVersion}. */
interface PrivateFiles {
  readonly binding: {
    readonly InferenceSession: new () => BindingSession;
    initOrtOnce(logLevel: number, tensorClass: unknown, isMainThread: boolean): void;
  };
  initOrt(): void;
}

interface BindingSession {
  loadModel(
    buffer: ArrayBufferLike,
    offset: number,
    length: number,
    options: InferenceSession.SessionOptions,
  ): void;
  readonly inputMetadata: readonly BindingMetadata[];
  readonly outputMetadata: readonly BindingMetadata[];
  run(feeds: Tensors, fetches: Record<string, Tensor | null>, options: object): Tensors;
  endProfiling(): void;
  dispose(): void;
}

interface BindingMetadata {
  readonly name: string;
  readonly isTensor: boolean;
  readonly type: number;
  readonly shape: readonly number[];
}

type TensorClass = new (type: Tensor.Type, data: Tensor.DataType, dims: readonly number[]) => Tensor;

/** Thrown by the tensor constructor to skip copies of outputs that were written in place. */
const stop = new Error('outputs are complete');

/** Watches the tensors that the binding creates for outputs, in output order. */
interface Interceptor {
  watch: ((type: Tensor.Type, data: Tensor.DataType, dims: readonly number[]) => void) | undefined;
}

/**
 * ONNX Runtime through the native binding of onnxruntime-node, without its copy of every output.
 *
 * onnxruntime-node 1.30 writes outputs into the given tensors. It then copies each into a new buffer, which
 * takes a quarter of a training step of a 135M model. The binding creates result tensors with a class that it
 * received at start. Here that is a subclass whose constructor throws once all needed outputs exist. This
 * skips the remaining copies.
 *
 * The first fetched output in graph order is still copied. Graphs should therefore put a small output first.
 *
 * Returns `undefined` if version, shape or behaviour differ from the known ones. The caller then uses the
 * public interface.
 */
export function openBinding(
  publicRuntime: NativeRuntime & { readonly Tensor: unknown },
  load: () => unknown = loadPrivateFiles,
): NativeRuntime | undefined {
  try {
    const files = load();
    if (!isPrivateFiles(files)) return undefined;
    const interceptor: Interceptor = { watch: undefined };
    files.initOrt();
    files.binding.initOrtOnce(
      3,
      watchedTensor(publicRuntime.Tensor as TensorClass, interceptor),
      isMainThread,
    );
    const runtime = bindingRuntime(publicRuntime, files, interceptor);
    return behaves(runtime, files, interceptor) ? runtime : undefined;
  } catch {
    return undefined;
  }
}

function loadPrivateFiles(): unknown {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve('onnxruntime-node'));
  const { version } = require(join(folder, '../package.json')) as { version: unknown };
  return version === knownVersion ? require(join(folder, 'binding.js')) : undefined;
}

function isPrivateFiles(files: unknown): files is PrivateFiles {
  const { binding, initOrt } = (files ?? {}) as Partial<PrivateFiles>;
  if (typeof initOrt !== 'function' || typeof binding?.initOrtOnce !== 'function') return false;
  const members = ['loadModel', 'run', 'dispose', 'endProfiling', 'inputMetadata', 'outputMetadata'];
  return members.every((member) => Object.hasOwn(binding.InferenceSession?.prototype ?? {}, member));
}

function watchedTensor(Tensor: TensorClass, interceptor: Interceptor): TensorClass {
  return class extends Tensor {
    constructor(type: Tensor.Type, data: Tensor.DataType, dims: readonly number[]) {
      interceptor.watch?.(type, data, dims);
      super(type, data, dims);
    }
  };
}

function bindingRuntime(
  publicRuntime: NativeRuntime,
  files: PrivateFiles,
  interceptor: Interceptor,
): NativeRuntime {
  return {
    access: 'binding',
    backends: publicRuntime.backends,
    tensor: publicRuntime.tensor,
    async createSession(model, options) {
      return loadSession(publicRuntime, files, interceptor, model, options);
    },
  };
}

function loadSession(
  { tensor }: NativeRuntime,
  files: PrivateFiles,
  interceptor: Interceptor,
  model: Uint8Array,
  options: NativeSessionOptions,
): BindingNativeSession {
  const native = new files.binding.InferenceSession();
  native.loadModel(model.buffer, model.byteOffset, model.byteLength, sessionOptions(options));
  const outputs = options.executionProvider === 'webgpu' ? 'copied' : 'in place';
  return new BindingNativeSession(native, tensor, interceptor, outputs, options.deviceOutputs ?? []);
}

/** Runs a graph once and compares: outputs in place, the exception out of the run, and nothing left behind. */
function behaves(runtime: NativeRuntime, files: PrivateFiles, interceptor: Interceptor): boolean {
  const options = { executionProvider: 'cpu', threads: 1 } as const;
  const session = loadSession(runtime, files, interceptor, identityModel(), options);
  const input = runtime.tensor('float32', Float32Array.of(1, 2, 3), [3]);
  const output = runtime.tensor('float32', new Float32Array(3), [3]);
  const given = session.runNow({ x: input }, ['y'], { y: output });
  const stopped =
    session.lastRun === 'stopped' && given.y === output && (output.data as Float32Array)[2] === 3;
  const fresh = session.runNow({ x: input }, ['y'], {}).y;
  session.dispose();
  return stopped && fresh?.dims[0] === 3 && (fresh.data as Float32Array)[1] === 2;
}

class BindingNativeSession implements NativeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /**
   * How the last run ended. `'returned'` means that another user of ONNX Runtime in this thread replaced the
   * class.
   */
  lastRun: 'stopped' | 'returned' = 'returned';
  readonly #native: BindingSession;
  readonly #tensor: NativeRuntime['tensor'];
  readonly #interceptor: Interceptor;
  readonly #outputs: 'in place' | 'copied';
  readonly #deviceOutputs: readonly string[];
  readonly #metadata: ReadonlyMap<string, BindingMetadata>;

  constructor(
    native: BindingSession,
    tensor: NativeRuntime['tensor'],
    interceptor: Interceptor,
    outputs: 'in place' | 'copied',
    deviceOutputs: readonly string[],
  ) {
    this.#deviceOutputs = deviceOutputs;
    this.#native = native;
    this.#tensor = tensor;
    this.#interceptor = interceptor;
    this.#outputs = outputs;
    this.inputNames = native.inputMetadata.map(({ name }) => name);
    const { outputMetadata } = native;
    this.outputNames = outputMetadata.map(({ name }) => name);
    this.#metadata = new Map(outputMetadata.map((metadata) => [metadata.name, metadata]));
  }

  async run(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors> {
    for (const name of this.inputNames) {
      if (feeds[name] === undefined) throw new TypeError(`input "${name}" is missing from the feeds`);
    }
    return this.#outputs === 'in place'
      ? this.runNow(feeds, fetch, into)
      : this.#runCopied(feeds, fetch, into);
  }

  /** Gives a tensor for every output of known shape. The binding creates only the others. */
  runNow(feeds: Tensors, fetch: readonly string[], into: Tensors): Tensors {
    const wanted = new Set(fetch);
    const order = this.outputNames.filter((name) => wanted.has(name));
    const fetches: Record<string, Tensor | null> = {};
    let last = 0;
    order.forEach((name, index) => {
      fetches[name] = into[name] ?? this.#allocate(name);
      if (fetches[name] === null) last = index;
    });
    const made = this.#runWatched(feeds, fetches, order, last);
    const results: Record<string, Tensor> = {};
    for (const name of fetch) results[name] = fetches[name] ?? made[name]!;
    return results;
  }

  endProfiling(): void {
    this.#native.endProfiling();
  }

  async release(): Promise<void> {
    this.dispose();
  }

  dispose(): void {
    this.#native.dispose();
  }

  /** Runs and returns the outputs up to index `last` in `order`. */
  #runWatched(
    feeds: Tensors,
    fetches: Record<string, Tensor | null>,
    order: readonly string[],
    last: number,
  ): Tensors {
    const made: Record<string, Tensor> = {};
    let index = 0;
    this.#interceptor.watch = (type, data, dims) => {
      const name = order[index]!;
      if (fetches[name] === null) made[name] = this.#tensor(type, data, dims);
      if (index++ === last) throw stop;
    };
    try {
      const returned = this.#native.run(feeds, fetches, {});
      this.lastRun = 'returned';
      return returned;
    } catch (error) {
      if (error !== stop) throw error;
      this.lastRun = 'stopped';
      return made;
    } finally {
      this.#interceptor.watch = undefined;
    }
  }

  /** Runs a device session through the binding's own transfer, which creates outputs on the host. */
  #runCopied(feeds: Tensors, fetch: readonly string[], into: Tensors): Tensors {
    requireNewOutputs(this.#deviceOutputs, into);
    const targets = Object.fromEntries(fetch.map((name) => [name, onDevice(into[name])]));
    const results = this.#native.run(feeds, targets, {});
    return Object.fromEntries(fetch.map((name) => [name, settleOutput(results[name]!, into[name], 'copy')]));
  }

  /**
   * Tensor for an output of known shape, or null if the binding must create it.
   *
   * A scalar cannot be distinguished from an unknown rank.
   */
  #allocate(name: string): Tensor | null {
    const { isTensor, type, shape } = this.#metadata.get(name)!;
    const array = elementTypes[type];
    if (!isTensor || !array || shape.length === 0 || shape.some((size) => size < 0)) return null;
    return this.#tensor(array[0], array[1](elementCount(shape)), shape);
  }
}
