import type { Value } from '@rlp/onnx';
import { mul } from '@rlp/onnx/ops';
import type { EngineHost, ParameterStore, Tensors } from '@rlp/onnx/runtime';
import type { Adamw } from '../optimizer/options.ts';
import { adamwRule } from '../optimizer/rules/adamw.ts';
import type { TrainedParameter, UpdateRule } from '../optimizer/update-rule.ts';
import { ParameterGraphs, scalar, withoutPrefix } from './parameter-graphs.ts';
import { adamwSlots, SlotOptimizer, type UpdateStep } from './slot-optimizer.ts';
import { clearParameters } from './store-copies.ts';

/** Clipping and AdamW on a device, in place, by one graph for all parameters. */
export class DeviceOptimizer extends SlotOptimizer {
  readonly #store: ParameterStore;
  readonly #graphs: ParameterGraphs;
  #isAllocated = false;

  constructor(host: EngineHost, store: ParameterStore) {
    super(store);
    this.#store = store;
    this.#graphs = new ParameterGraphs(host);
  }

  async update({ learningRate, update, options, factor }: UpdateStep): Promise<void> {
    const store = this.#store;
    await this.#allocate();
    const rule = adamwRule(options as Adamw);
    const tensors = tensorsOf(store);
    // All parameters of a stretch have as many axes as the first, on which weight decay depends.
    const first = store.stretches!().map(
      ({ parameters: [parameter] }): TrainedParameter => ({ ...parameter!, role: 'other' }),
    );
    const numbers = first.map((parameter) =>
      numbersOf(parameter, rule.numbers(parameter, { learningRate, update })),
    );
    await this.#graphs.run<string>(
      JSON.stringify(options),
      { ...tensors, ...Object.assign({}, ...numbers), factor: scalar(factor) },
      (inputs) =>
        Object.assign({}, ...first.map((parameter, index) => buildUpdate(rule, parameter, index, inputs))),
      nextOf(tensors),
    );
    store.touch();
  }

  override async restore(...given: Parameters<SlotOptimizer['restore']>): Promise<void> {
    await this.#allocate();
    await super.restore(...given);
  }

  override async release(): Promise<void> {
    await this.#graphs.release();
  }

  /** Brings the moments to the device. */
  async #allocate(): Promise<void> {
    if (this.#isAllocated) return;
    const store = this.#store;
    for (const slot of adamwSlots) await clearParameters(store, store.parameters, slot);
    this.#isAllocated = true;
  }
}

/** Values, gradient and moments by stretch. */
function tensorsOf(store: ParameterStore): Tensors {
  const named = [undefined, 'gradient', ...adamwSlots].flatMap((slot) =>
    store.stretches!(slot).map(({ tensor }, index) => [`${slot ?? 'value'}.${index}`, tensor] as const),
  );
  return Object.fromEntries(named);
}

/** Adds the update of a stretch to a graph. */
function buildUpdate(
  rule: UpdateRule,
  parameter: TrainedParameter,
  index: number,
  inputs: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const { value, state } = rule.build(parameter, {
    value: inputs[`value.${index}`]!,
    gradient: mul(inputs[`gradient.${index}`]!, inputs.factor!),
    state: { moment1: inputs[`moment1.${index}`]!, moment2: inputs[`moment2.${index}`]! },
    numbers: withoutPrefix(`${kindOf(parameter)}.`, inputs),
  });
  return {
    [`next value.${index}`]: value,
    [`next moment1.${index}`]: state.moment1!,
    [`next moment2.${index}`]: state.moment2!,
  };
}

/** Parameters of a kind share their numbers. */
function kindOf({ shape }: TrainedParameter): 'matrix' | 'vector' {
  return shape.length >= 2 ? 'matrix' : 'vector';
}

function numbersOf(parameter: TrainedParameter, numbers: Readonly<Record<string, number>>): Tensors {
  const named = Object.entries(numbers).map(([name, number]) => [
    `${kindOf(parameter)}.${name}`,
    scalar(number),
  ]);
  return Object.fromEntries(named);
}

/** The tensors that an update writes. */
function nextOf(tensors: Tensors): Tensors {
  const written = Object.entries(tensors).filter(([name]) => !name.startsWith('gradient.'));
  return Object.fromEntries(written.map(([name, tensor]) => [`next ${name}`, tensor]));
}
