import type { ModelConfig } from '@rlp/models';
import { linearLayers } from '@rlp/models/decoder';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import type { TrainedParameter } from './update-rule.ts';

/** Parameters of a model with their roles: `'linear'` for the matrices of its linear layers. */
export function withRoles(config: ModelConfig, parameters: readonly ParameterSpec[]): TrainedParameter[] {
  const linear = new Set(linearLayers(config).map(({ weight }) => weight));
  return parameters.map(({ name, shape }) => ({ name, shape, role: linear.has(name) ? 'linear' : 'other' }));
}
