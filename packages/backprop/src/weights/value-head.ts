import type { Weights } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { ValueHeadStart } from '../batch/value-losses.ts';
import type { NamedTensor } from '../program-protocol.ts';
import { checkWeights } from './policy-weights.ts';

/** Name of the value head's row, as in Hugging Face's sequence and token classification models. */
export const valueHeadName = 'score.weight';

/** File of a checkpoint that holds the value head, beside the policy's own files. */
export const valueHeadFile = 'value_head.safetensors';

/** The value head of a model, `[1, hidden size]`; nothing without one. */
export function valueHeadSpec(
  { hiddenSize }: Pick<ModelConfig, 'hiddenSize'>,
  start: ValueHeadStart,
): ParameterSpec | undefined {
  return start === 'none' ? undefined : { name: valueHeadName, shape: [1, hiddenSize] };
}

/**
 * First contents of the value head: zeros, or what was given. Nothing without a head.
 *
 * @throws ArgumentError for a row of another shape or with values that are not finite.
 */
export function initialHead(spec: ParameterSpec | undefined, start: ValueHeadStart): Weights {
  if (!spec) return new Map();
  const zeros = () => new Float32Array(spec.shape.reduce((product, length) => product * length, 1));
  const head = typeof start === 'object' ? start : { shape: spec.shape, data: zeros() };
  const weights = new Map([[spec.name, head]]);
  checkWeights('createOnnxBackend: valueHead', [spec], weights);
  return weights;
}

/** Parts trained tensors into the policy's own and the value head. */
export function splitHead(tensors: readonly NamedTensor[]): {
  readonly policy: readonly NamedTensor[];
  readonly head: readonly NamedTensor[];
} {
  const isHead = ({ name }: NamedTensor) => name === valueHeadName;
  return { policy: tensors.filter((tensor) => !isHead(tensor)), head: tensors.filter(isHead) };
}
