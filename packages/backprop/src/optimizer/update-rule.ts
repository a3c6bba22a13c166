import type { Value } from '@rlp/onnx';
import type { ParameterSpec } from '@rlp/onnx/runtime';

/** A parameter that an optimizer updates. */
export interface TrainedParameter extends ParameterSpec {
  /** `'linear'` for the matrix of a linear layer or of a low-rank correction. */
  readonly role: 'linear' | 'other';
}

/** What an update's graph computes with. */
interface UpdateInputs {
  readonly value: Value;
  /** Gradient after clipping. */
  readonly gradient: Value;
  /** What earlier updates left, by the names of {@link UpdateRule.state}. */
  readonly state: Readonly<Record<string, Value>>;
  /** Scalars of shape [1], by the names of {@link UpdateRule.numbers}. */
  readonly numbers: Readonly<Record<string, Value>>;
}

/** What an update's graph gives: the new value and the new state. */
interface UpdateOutputs {
  readonly value: Value;
  readonly state: Readonly<Record<string, Value>>;
}

/** When an update happens. */
interface UpdateTime {
  readonly learningRate: number;
  /** Number of the update. 1 for the first. */
  readonly update: number;
}

/** An optimizer, as the graph that updates one parameter. */
export interface UpdateRule {
  /** Tensors that are kept from update to update, all 0 at first: shapes by name. */
  state(parameter: TrainedParameter): Readonly<Record<string, readonly number[]>>;
  /** Numbers that change from update to update. */
  numbers(parameter: TrainedParameter, time: UpdateTime): Readonly<Record<string, number>>;
  /** Where gradients are taken, if not at the value. */
  point?(at: Pick<UpdateInputs, 'value' | 'state'>): Value;
  /** Adds the update of a parameter to a graph. The graph serves all parameters of its shape and role. */
  build(parameter: TrainedParameter, inputs: UpdateInputs): UpdateOutputs;
}
