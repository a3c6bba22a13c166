import { ArgumentError, type HostTensor, type PublicationForm, type Weights } from '@rlp/core';
import { checkWeightShapes } from '@rlp/models';
import { firstNonFinite } from '@rlp/models/decoder';
import { elementCount } from '@rlp/onnx';
import type { Engine, ParameterSpec } from '@rlp/onnx/runtime';
import type { NamedTensor } from '../program-protocol.ts';

/** Tensors by name, as they are sent to and from the engine's thread. */
export function toWeights(tensors: readonly NamedTensor[]): Weights {
  return new Map(tensors.map(({ name, shape, data }) => [name, { shape, data }]));
}

/** Inverse of {@link toWeights}. */
export function toTensors(weights: Weights): NamedTensor[] {
  return [...weights].map(([name, { shape, data }]) => ({ name, shape, data }));
}

/** Tensors of zeros. */
export function zeros(specs: readonly ParameterSpec[]): NamedTensor[] {
  return specs.map(({ name, shape }) => ({ name, shape, data: new Float32Array(elementCount(shape)) }));
}

/**
 * Checks that weights have exactly these names, shapes and sizes, and finite values. Those in files are checked by
 * {@link checkedWeights}.
 *
 * @param owner - Start of the error message.
 * @throws ArgumentError naming the problem.
 */
export function checkWeights(owner: string, specs: readonly ParameterSpec[], weights: Weights): void {
  checkWeightShapes(owner, specs, weights);
  for (const [name, tensor] of weights) {
    if (tensor.copyTo === undefined) requireFinite(owner, name, tensor.data);
  }
}

/** The same weights. Those in files are checked when they are read: values that are not finite throw an ArgumentError. */
export function checkedWeights(owner: string, weights: Weights): Weights {
  const checked = ([name, tensor]: readonly [string, HostTensor]): [string, HostTensor] => {
    if (tensor.copyTo === undefined) return [name, tensor];
    const copyTo = (target: Float32Array, first: number) => {
      tensor.copyTo!(target, first);
      requireFinite(owner, name, target, first);
    };
    const { shape } = tensor;
    return [
      name,
      {
        shape,
        copyTo,
        get data() {
          requireFinite(owner, name, tensor.data);
          return tensor.data;
        },
      },
    ];
  };
  return new Map([...weights].map(checked));
}

/** @throws ArgumentError naming the first value that is not finite. @param first - Its place in the tensor. */
function requireFinite(owner: string, name: string, data: Float32Array, first = 0): void {
  const bad = firstNonFinite(data);
  if (bad < 0) return;
  throw new ArgumentError(
    `${owner}: "${name}" has the value ${data[bad]} at ${first + bad}, expected finite ones: the weights have diverged or are damaged`,
  );
}

/** Frees those of the stores that exist. */
export async function deleteStores(engine: Engine, names: readonly string[]): Promise<void> {
  for (const name of names) if (engine.hasStore(name)) await engine.deleteStore(name);
}

/** Writes the files of a publication to a directory. */
export type PublishedFiles = (directory: string) => Promise<void>;

/** Weights of a policy from the user's side, for full training and low-rank adaptation. */
export interface PolicyWeights {
  readonly adaptation: 'full' | 'lora';
  /** Whether frozen weights cannot be replaced. */
  readonly isFixed: boolean;
  /** Forms in which they can be published. */
  readonly publishes: readonly PublicationForm[];
  /**
   * A critic's row that is trained with the policy. It does not belong to the weights, and the methods below
   * ignore it.
   */
  readonly valueHead?: ParameterSpec | undefined;
  /** Copies of all weights, by Hugging Face names. */
  read(): Promise<Weights>;
  /** Replaces all weights. */
  load(weights: Weights): Promise<void>;
  /** Throws an ArgumentError unless names and shapes are those of the policy's trained parameters. */
  check(owner: string, parameters: Weights): void;
  /** Writes the policy's trained parameters to a directory, in files that other libraries read. */
  write(directory: string, parameters: Weights): Promise<void>;
  /** Reads and checks the files of {@link PolicyWeights.write}. */
  readFiles(directory: string): Promise<Weights>;
  /** Copies the weights that `publish` writes later, as a model folder or an adapter. */
  published(as: 'adapter' | 'checkpoint'): Promise<PublishedFiles>;
  /** Frees the stores. */
  dispose(): Promise<void>;
}
