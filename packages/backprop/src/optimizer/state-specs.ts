import { elementCount } from '@rlp/onnx';
import type { ParameterSpec } from '@rlp/onnx/runtime';
import { eightBitBytes, eightBitState } from './eight-bit.ts';
import type { Optimizer } from './options.ts';
import { ruleOf } from './rules.ts';
import type { TrainedParameter } from './update-rule.ts';

/** Tensors that an optimizer keeps for these parameters, named `state.parameter`. */
export function stateSpecs(optimizer: Optimizer, parameters: readonly TrainedParameter[]): ParameterSpec[] {
  const rule = ruleOf(optimizer);
  const stateOf = optimizer.kind === 'adamw-8bit' ? eightBitState : rule.state;
  return parameters.flatMap((parameter) =>
    Object.entries(stateOf(parameter)).map(([name, shape]) => ({ name: `${name}.${parameter.name}`, shape })),
  );
}

/** Bytes of an optimizer's state of these parameters, and of the weights at which it takes gradients. */
export function stateBytes(optimizer: Optimizer, parameters: readonly TrainedParameter[]): number {
  const point = ruleOf(optimizer).point === undefined ? [] : parameters;
  const bytes =
    optimizer.kind === 'adamw-8bit'
      ? parameters.map(eightBitBytes)
      : [...stateSpecs(optimizer, parameters), ...point].map(({ shape }) => 4 * elementCount(shape));
  return bytes.reduce((sum, each) => sum + each, 0);
}
