import type { Weights } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { ValueHeadStart } from '../batch/value-losses.ts';
import type { NamedTensor } from '../program-protocol.ts';
import { checkWeights, toWeights, zeros } from './policy-weights.ts';

/** Name of the value head's row, as in Hugging Face's sequence and token classification models. */
export const valueHeadName = 'score.weight';

/** File of a checkpoint that holds the value head, beside the files of the policy. */
export const valueHeadFile = 'value_head.safetensors';

/** Value head of a model, `[1, hidden size]`. `undefined` without one. */
export function valueHeadSpec(
  { hiddenSize }: Pick<ModelConfig, 'hiddenSize'>,
  start: ValueHeadStart,
): ParameterSpec | undefined {
  return start === 'none' ? undefined : { name: valueHeadName, shape: [1, hiddenSize] };
}

/**
 * Initial value head: zeros or the given row. Empty without a head.
 *
 * @throws ArgumentError for a row with another shape or with values that are not finite.
 */
export function initialHead(spec: ParameterSpec | undefined, start: ValueHeadStart): Weights {
  if (!spec) return new Map();
  const weights = typeof start === 'object' ? new Map([[spec.name, start]]) : toWeights(zeros([spec]));
  checkWeights('createOnnxBackend: valueHead', [spec], weights);
  return weights;
}

/** Splits trained tensors into those of the policy and the value head. */
export function splitHead(tensors: readonly NamedTensor[]): {
  readonly policy: readonly NamedTensor[];
  readonly head: readonly NamedTensor[];
} {
  const isHead = ({ name }: NamedTensor) => name === valueHeadName;
  return { policy: tensors.filter((tensor) => !isHead(tensor)), head: tensors.filter(isHead) };
}
