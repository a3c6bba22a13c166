import type { CallContext, ParameterStore } from '@rlp/onnx/runtime';
import { clipFactor } from '../optimizer/optimizer.ts';
import { type Adamw, type Optimizer, weightDecayOf } from '../optimizer/options.ts';
import type { NamedTensor } from '../program-protocol.ts';
import type { AccumulatedGradient } from './gradients.ts';
import { copyIn, copyOut } from './store-copies.ts';

/** Constants of one update. */
export interface UpdateStep {
  readonly learningRate: number;
  /** Number of the update. 1 for the first. */
  readonly update: number;
  readonly options: Optimizer;
  readonly maxGradientNorm: number;
}

/** Updates the parameters from the accumulated gradient and consumes it. */
export interface ParameterOptimizer {
  /** @returns Global L2 norm of the gradient before clipping. */
  update(step: UpdateStep): Promise<number>;
  /** Writes the weights at which gradients are taken. Absent if these are the parameters. */
  readonly writePoint?: ((into: ParameterStore) => Promise<void>) | undefined;
  /** Copies of the state that it keeps, named `state.parameter`. */
  save(call: CallContext): Promise<readonly NamedTensor[]>;
  /** Replaces the state by what {@link ParameterOptimizer.save} gave. */
  restore(tensors: readonly NamedTensor[]): Promise<void>;
  /** Frees allocated stores and sessions. */
  release(): Promise<void>;
}

/** Parts of an optimizer. */
export interface OptimizerParts<Gradient> {
  readonly store: ParameterStore;
  readonly gradient: Gradient;
}

/** Slots of a store in host memory with AdamW's state. */
export const adamwSlots = ['moment1', 'moment2'] as const;

/** Clipping and AdamW by WebAssembly kernels, in place, for parameters in host memory. */
export class KernelOptimizer implements ParameterOptimizer {
  readonly #parts: OptimizerParts<AccumulatedGradient>;

  constructor(parts: OptimizerParts<AccumulatedGradient>) {
    this.#parts = parts;
  }

  async update({ learningRate, update, options, maxGradientNorm }: UpdateStep): Promise<number> {
    const { store, gradient } = this.#parts;
    gradient.settle();
    const norm = gradient.norm();
    const factor = clipFactor(norm, maxGradientNorm);
    if (factor < 1) gradient.scale(factor);
    const { beta1, beta2, epsilon } = options as Adamw;
    const step = { learningRate, beta1, beta2, epsilon, update };
    for (const { state, weightDecay } of this.#pieces(options as Adamw)) {
      store.kernels.adamw(state, { ...step, weightDecay });
    }
    gradient.clear();
    return norm;
  }

  async save(call: CallContext): Promise<readonly NamedTensor[]> {
    const copies: NamedTensor[] = [];
    for (const slot of adamwSlots) {
      const tensors = await copyOut(this.#parts.store, slot, call);
      copies.push(...tensors.map((tensor) => ({ ...tensor, name: `${slot}.${tensor.name}` })));
    }
    return copies;
  }

  async restore(tensors: readonly NamedTensor[]): Promise<void> {
    for (const slot of adamwSlots) {
      const own = tensors.filter(({ name }) => name.startsWith(`${slot}.`));
      const named = own.map((tensor) => ({ ...tensor, name: tensor.name.slice(slot.length + 1) }));
      await copyIn(this.#parts.store, slot, named);
    }
  }

  async release(): Promise<void> {}

  /** Whole memories if all parameters have the same decay, otherwise single parameters. */
  *#pieces(options: Adamw) {
    const { store } = this.#parts;
    const { decay, weightDecay } = options;
    if (decay === 'all' || weightDecay === 0) {
      const [values, gradients] = [store.segments(), store.segments('gradient')];
      const [first, second] = [store.segments('moment1'), store.segments('moment2')];
      for (const [i, value] of values.entries()) {
        yield {
          state: { value, gradient: gradients[i]!, moment1: first[i]!, moment2: second[i]! },
          weightDecay,
        };
      }
      return;
    }
    for (const { name, shape } of store.parameters) {
      const part = (slot?: string) => store.data(name, slot);
      const state = {
        value: part(),
        gradient: part('gradient'),
        moment1: part('moment1'),
        moment2: part('moment2'),
      };
      yield { state, weightDecay: weightDecayOf(options, shape) };
    }
  }
}
