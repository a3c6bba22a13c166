import type { InferenceSession, Tensor } from 'onnxruntime-common';
import type { Tensors } from '../protocol.ts';
import type { NativeRuntime, NativeSession, NativeSessionOptions } from './native.ts';
import { sessionOptions } from './session-options.ts';

type OnnxRuntime = Pick<typeof import('onnxruntime-common'), 'InferenceSession' | 'Tensor' | 'env'>;

/** ONNX Runtime through its public interface. Outputs in `into` are written in place, then copied needlessly. */
export function openPublic(
  module: typeof import('onnxruntime-node'),
): NativeRuntime & { readonly Tensor: OnnxRuntime['Tensor'] } {
  return openModule(module, {
    backends: module.listSupportedBackends,
    sessionOptions,
    given: ({ executionProvider }) => (executionProvider === 'webgpu' ? 'copy' : 'written'),
  });
}

/** How the builds of ONNX Runtime differ. */
interface Build extends Pick<NativeRuntime, 'backends'> {
  sessionOptions(options: NativeSessionOptions): InferenceSession.SessionOptions;
  given(options: NativeSessionOptions): GivenOutputs;
}

/** Any build of ONNX Runtime through the interface that all of them have. */
export function openModule(
  module: OnnxRuntime,
  build: Build,
): NativeRuntime & { readonly Tensor: OnnxRuntime['Tensor'] } {
  module.env.logLevel = 'error';
  return {
    access: 'public',
    Tensor: module.Tensor,
    backends: build.backends,
    tensor: (type, data, shape) => new module.Tensor(type, data, shape),
    async createSession(model, options) {
      const session = await module.InferenceSession.create(model, build.sessionOptions(options));
      return new PublicSession(module, session, build.given(options));
    },
  };
}

/** Handling of given outputs: ONNX Runtime wrote them, or returned others that must be copied. */
type GivenOutputs = 'written' | 'copy';

class PublicSession implements NativeSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #module: OnnxRuntime;
  readonly #session: InferenceSession;
  readonly #given: GivenOutputs;

  constructor(module: OnnxRuntime, session: InferenceSession, given: GivenOutputs) {
    this.#module = module;
    this.#session = session;
    this.#given = given;
    this.inputNames = session.inputNames;
    this.outputNames = session.outputNames;
  }

  async run(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors> {
    const fetches = Object.fromEntries(fetch.map((name) => [name, this.#target(into[name])]));
    const results = await this.#session.run(feeds, fetches);
    return Object.fromEntries(
      fetch.map((name) => [name, settleOutput(results[name]!, into[name], this.#given)]),
    );
  }

  endProfiling(): void {
    this.#session.endProfiling();
  }

  release(): Promise<void> {
    return this.#session.release();
  }

  /** The public interface only accepts its tensor class. */
  #target(tensor: Tensor | undefined): Tensor | null {
    if (tensor === undefined || this.#given === 'copy') return null;
    const { Tensor } = this.#module;
    return tensor instanceof Tensor ? tensor : new Tensor(tensor.type, tensor.data, tensor.dims);
  }
}

/** Tensor that the caller gets for an output: the one it gave, or the result. */
export function settleOutput(result: Tensor, given: Tensor | undefined, outputs: GivenOutputs): Tensor {
  if (given === undefined) return result;
  if (outputs === 'copy') copyInto(given, result);
  return given;
}

function copyInto(target: Tensor, source: Tensor): void {
  const to = target.data as Exclude<Tensor.DataType, string[]>;
  const from = source.data as typeof to;
  if (to.length !== from.length || target.type !== source.type) {
    throw new TypeError(
      `output is ${source.type} [${source.dims.join(', ')}], the tensor given for it is ${target.type} [${target.dims.join(', ')}]`,
    );
  }
  (to as Float32Array).set(from as Float32Array);
}
