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
      return new PublicSession(module, session, build.given(options), options.deviceOutputs ?? []);
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
  readonly #deviceOutputs: readonly string[];

  constructor(
    module: OnnxRuntime,
    session: InferenceSession,
    given: GivenOutputs,
    deviceOutputs: readonly string[],
  ) {
    this.#deviceOutputs = deviceOutputs;
    this.#module = module;
    this.#session = session;
    this.#given = given;
    this.inputNames = session.inputNames;
    this.outputNames = session.outputNames;
  }

  async run(feeds: Tensors, fetch: readonly string[], into: Tensors): Promise<Tensors> {
    requireNewOutputs(this.#deviceOutputs, into);
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
    const { Tensor } = this.#module;
    const device = onDevice(tensor);
    if (device) return deviceTensor(Tensor, device);
    if (tensor === undefined || this.#given === 'copy') return null;
    return tensor instanceof Tensor ? tensor : new Tensor(tensor.type, tensor.data, tensor.dims);
  }
}

/** A tensor in the memory of a device, where sessions write outputs in place. Otherwise null. */
export function onDevice(tensor: Tensor | undefined): Tensor | null {
  return tensor?.location === 'gpu-buffer' ? tensor : null;
}

/**
 * onnxruntime-node 1.30 writes to given tensors of a device in sessions all of whose new outputs are on the host.
 *
 * @throws TypeError for a session that has both.
 */
export function requireNewOutputs(deviceOutputs: readonly string[], into: Tensors): void {
  const given = Object.keys(into).filter((name) => onDevice(into[name]) !== null);
  if (given.length === 0 || deviceOutputs.length === 0) return;
  throw new TypeError(
    `outputs ${given.join(', ')} were given on the device, in a session with deviceOutputs; make one without`,
  );
}

/** A tensor of the device as one of the runtime's own class. */
function deviceTensor(own: OnnxRuntime['Tensor'], tensor: Tensor): Tensor {
  if (tensor instanceof own) return tensor;
  const { gpuBuffer, dims, type } = tensor;
  return own.fromGpuBuffer(gpuBuffer, { dataType: type as 'float32', dims });
}

/** Tensor that the caller gets for an output: the one it gave, or the result. */
export function settleOutput(result: Tensor, given: Tensor | undefined, outputs: GivenOutputs): Tensor {
  if (given === undefined) return result;
  if (outputs === 'copy' && onDevice(given) === null) copyInto(given, result);
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
