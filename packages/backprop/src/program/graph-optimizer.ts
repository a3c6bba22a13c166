import { mul } from '@rlp/onnx/ops';
import type { CallContext, EngineHost, ParameterStore, Tensor } from '@rlp/onnx/runtime';
import type { Optimizer } from '../optimizer/options.ts';
import { ruleOf } from '../optimizer/rules.ts';
import { stateSpecs } from '../optimizer/state-specs.ts';
import type { TrainedParameter, UpdateRule } from '../optimizer/update-rule.ts';
import type { NamedTensor } from '../program-protocol.ts';
import { ParameterGraphs, scalar, withoutPrefix } from './parameter-graphs.ts';
import type { ParameterOptimizer, UpdateStep } from './slot-optimizer.ts';
import { copyIn, copyOut } from './store-copies.ts';

/** Parts of a {@link GraphOptimizer}. */
export interface GraphOptimizerParts {
  /** Parameters, and their gradients in the slot `gradient`. */
  readonly store: ParameterStore;
  readonly parameters: readonly TrainedParameter[];
  /** Name of the store of the optimizer's state, which is created on first use. */
  readonly state: string;
  readonly optimizer: Optimizer;
}

/**
 * Clipping and any optimizer as graphs, in host memory or on a device.
 *
 * Parameters, gradients and state stay where they are. An update sends a few numbers. Parameters are updated one at a time,
 * so at most one is held twice.
 */
export class GraphOptimizer implements ParameterOptimizer {
  readonly #host: EngineHost;
  readonly #parts: GraphOptimizerParts;
  readonly #graphs: ParameterGraphs;
  readonly #names: readonly string[];
  #state: ParameterStore | undefined;

  constructor(host: EngineHost, parts: GraphOptimizerParts) {
    this.#host = host;
    this.#parts = parts;
    this.#graphs = new ParameterGraphs(host);
    this.#names = stateSpecs(parts.optimizer, parts.parameters).map(({ name }) => name);
  }

  async update({ learningRate, update, options, factor }: UpdateStep): Promise<void> {
    const rule = ruleOf(options);
    const key = JSON.stringify(options);
    for (const parameter of this.#parts.parameters) {
      const numbers = { ...rule.numbers(parameter, { learningRate, update }), factor };
      await this.#updateOne(parameter, { rule, key, numbers });
    }
  }

  get writePoint(): ((into: ParameterStore) => Promise<void>) | undefined {
    const point = ruleOf(this.#parts.optimizer).point;
    if (point === undefined) return undefined;
    return async (into) => {
      for (const parameter of this.#parts.parameters) {
        const { name, shape } = parameter;
        const feeds = this.#feeds(parameter, ruleOf(this.#parts.optimizer));
        const { at } = await this.#graphs.run(`point ${shape.join()}`, feeds, (inputs) => ({
          at: point({ value: inputs.value!, state: withoutPrefix('state:', inputs) }),
        }));
        into.replace(name, at!);
      }
    };
  }

  async save(call: CallContext): Promise<readonly NamedTensor[]> {
    const state = this.#stateStore();
    return state ? copyOut(state, undefined, call) : [];
  }

  async restore(tensors: readonly NamedTensor[]): Promise<void> {
    const state = this.#stateStore();
    if (state) await copyIn(state, undefined, tensors);
  }

  async release(): Promise<void> {
    await this.#graphs.release();
    if (this.#state) this.#host.deleteStore(this.#state.name);
    this.#state = undefined;
  }

  async #updateOne(
    parameter: TrainedParameter,
    { rule, key, numbers }: { rule: UpdateRule; key: string; numbers: Readonly<Record<string, number>> },
  ): Promise<void> {
    const { store } = this.#parts;
    const { name, shape, role } = parameter;
    const slots = Object.keys(rule.state(parameter));
    const state = this.#stateStore();
    const feeds = this.#feeds(parameter, rule);
    feeds.gradient = store.tensor(name, 'gradient');
    for (const [number, value] of Object.entries(numbers)) feeds[`number:${number}`] = scalar(value);
    const next = await this.#graphs.run(`${key} ${role} ${shape.join()}`, feeds, (inputs) => {
      const results = rule.build(parameter, {
        value: inputs.value!,
        gradient: mul(inputs.gradient!, inputs['number:factor']!),
        state: withoutPrefix('state:', inputs),
        numbers: withoutPrefix('number:', inputs),
      });
      const states = slots.map((slot) => [`next:${slot}`, results.state[slot]!] as const);
      return { 'next:value': results.value, ...Object.fromEntries(states) };
    });
    store.replace(name, next['next:value']!);
    for (const slot of slots) state!.replace(`${slot}.${name}`, next[`next:${slot}`]!);
  }

  /** A parameter and the state that is kept of it. */
  #feeds(parameter: TrainedParameter, rule: UpdateRule): Record<string, Tensor> {
    const state = this.#stateStore();
    const slots = Object.keys(rule.state(parameter));
    return {
      value: this.#parts.store.tensor(parameter.name),
      ...Object.fromEntries(
        slots.map((slot) => [`state:${slot}`, state!.tensor(`${slot}.${parameter.name}`)]),
      ),
    };
  }

  /** Absent if the optimizer keeps nothing. */
  #stateStore(): ParameterStore | undefined {
    if (this.#names.length === 0) return undefined;
    const { optimizer, parameters, state } = this.#parts;
    this.#state ??= this.#host.createStore({
      name: state,
      parameters: stateSpecs(optimizer, parameters),
    });
    return this.#state;
  }
}
