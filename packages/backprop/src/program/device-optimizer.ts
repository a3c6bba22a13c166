import { mul } from '@rlp/onnx/ops';
import { type EngineHost, Tensor, type Tensors } from '@rlp/onnx/runtime';
import { clipFactor } from '../optimizer/optimizer.ts';
import type { Adamw } from '../optimizer/options.ts';
import { adamwRule } from '../optimizer/rules/adamw.ts';
import type { TrainedParameter } from '../optimizer/update-rule.ts';
import type { DeviceGradient } from './device-gradient.ts';
import { ParameterGraphs } from './element-graphs.ts';
import { adamwSlots, type OptimizerParts, SlotOptimizer, type UpdateStep } from './slot-optimizer.ts';
import { clearParameters } from './store-copies.ts';

/** Clipping and AdamW on a device, in place, by one graph for all parameters. */
export class DeviceOptimizer extends SlotOptimizer {
  readonly #parts: OptimizerParts<DeviceGradient>;
  readonly #graphs: ParameterGraphs;
  #isAllocated = false;

  constructor(host: EngineHost, parts: OptimizerParts<DeviceGradient>) {
    super(parts.store);
    this.#parts = parts;
    this.#graphs = new ParameterGraphs(host);
  }

  async update({ learningRate, update, options, maxGradientNorm }: UpdateStep): Promise<number> {
    const { store, gradient } = this.#parts;
    await gradient.settle();
    await this.#allocate();
    const norm = await gradient.norm();
    const factor = clipFactor(norm, maxGradientNorm);
    const rule = adamwRule(options as Adamw);
    const stretches = store.stretches!();
    // All parameters of a stretch have as many axes as the first, on which weight decay depends.
    const first = stretches.map(
      ({ parameters: [parameter] }): TrainedParameter => ({ ...parameter!, role: 'other' }),
    );
    const tensors: Record<string, Tensor> = {};
    for (const slot of [undefined, 'gradient', ...adamwSlots]) {
      for (const [index, { tensor }] of store.stretches!(slot).entries()) {
        tensors[`${slot ?? 'value'}.${index}`] = tensor;
      }
    }
    const feeds: Record<string, Tensor> = { ...tensors, factor: scalar(factor) };
    for (const parameter of first) {
      const numbers = rule.numbers(parameter, { learningRate, update });
      for (const [name, number] of Object.entries(numbers))
        feeds[`${kindOf(parameter)}.${name}`] ??= scalar(number);
    }
    await this.#graphs.run(
      JSON.stringify(options),
      feeds,
      (inputs) => {
        const results = first.map((parameter, index) => {
          const { value, state } = rule.build(parameter, {
            value: inputs[`value.${index}`]!,
            gradient: mul(inputs[`gradient.${index}`]!, inputs.factor!),
            state: { moment1: inputs[`moment1.${index}`]!, moment2: inputs[`moment2.${index}`]! },
            numbers: ofKind(kindOf(parameter), inputs),
          });
          return {
            [`value.${index}`]: value,
            [`moment1.${index}`]: state.moment1!,
            [`moment2.${index}`]: state.moment2!,
          };
        });
        const named = Object.assign({}, ...results) as (typeof results)[0];
        return Object.fromEntries(Object.entries(named).map(([name, result]) => [`next ${name}`, result]));
      },
      nextOf(tensors),
    );
    store.touch();
    gradient.clear();
    return norm;
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
    const { store } = this.#parts;
    for (const slot of adamwSlots) await clearParameters(store, store.parameters, slot);
    this.#isAllocated = true;
  }
}

/** Parameters of a kind share their numbers. */
function kindOf({ shape }: TrainedParameter): 'matrix' | 'vector' {
  return shape.length >= 2 ? 'matrix' : 'vector';
}

function ofKind<Each>(kind: string, inputs: Readonly<Record<string, Each>>): Record<string, Each> {
  const own = Object.entries(inputs).filter(([name]) => name.startsWith(`${kind}.`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(kind.length + 1), value]));
}

/** The tensors that an update writes. */
function nextOf(tensors: Tensors): Tensors {
  const written = Object.entries(tensors).filter(([name]) => !name.startsWith('gradient.'));
  return Object.fromEntries(written.map(([name, tensor]) => [`next ${name}`, tensor]));
}

function scalar(value: number): Tensor {
  return new Tensor('float32', Float32Array.of(value), [1]);
}
