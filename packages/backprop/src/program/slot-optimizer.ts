import type { CallContext, ParameterStore } from '@rlp/onnx/runtime';
import type { Optimizer } from '../optimizer/options.ts';
import type { NamedTensor } from '../program-protocol.ts';
import { copyIn, copyOut } from './store-copies.ts';

/** Constants of one update. */
export interface UpdateStep {
  readonly learningRate: number;
  /** Number of the update. 1 for the first. */
  readonly update: number;
  readonly options: Optimizer;
  /** Multiplies the gradient, to clip its norm. At most 1. */
  readonly factor: number;
}

/** Updates the parameters from the accumulated gradient, which it may overwrite. */
export interface ParameterOptimizer {
  update(step: UpdateStep): Promise<void>;
  /** Writes the weights at which gradients are taken. Absent if these are the parameters. */
  readonly writePoint?: ((into: ParameterStore) => Promise<void>) | undefined;
  /** Copies of the state that it keeps, named `state.parameter`. */
  save(call: CallContext): Promise<readonly NamedTensor[]>;
  /** Replaces the state by what {@link ParameterOptimizer.save} gave. */
  restore(tensors: readonly NamedTensor[]): Promise<void>;
  /** Frees allocated stores and sessions. */
  release(): Promise<void>;
}

/** Slots of a store with AdamW's state. */
export const adamwSlots = ['moment1', 'moment2'] as const;

/** An optimizer that keeps AdamW's state in slots of the parameters' store. */
export abstract class SlotOptimizer implements ParameterOptimizer {
  protected readonly store: ParameterStore;

  constructor(store: ParameterStore) {
    this.store = store;
  }

  abstract update(step: UpdateStep): Promise<void>;

  async save(call: CallContext): Promise<readonly NamedTensor[]> {
    const copies: NamedTensor[] = [];
    for (const slot of adamwSlots) {
      const tensors = await copyOut(this.store, slot, call);
      copies.push(...tensors.map((tensor) => ({ ...tensor, name: `${slot}.${tensor.name}` })));
    }
    return copies;
  }

  async restore(tensors: readonly NamedTensor[]): Promise<void> {
    for (const slot of adamwSlots) {
      const own = tensors.filter(({ name }) => name.startsWith(`${slot}.`));
      const named = own.map((tensor) => ({ ...tensor, name: tensor.name.slice(slot.length + 1) }));
      await copyIn(this.store, slot, named);
    }
  }

  async release(): Promise<void> {}
}
