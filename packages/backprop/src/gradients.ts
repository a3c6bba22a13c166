import { TrainingError } from '@rlp/core';
import type { EngineHost, ParameterStore } from '@rlp/onnx/runtime';
import type { GraphPlan, MicroBatchRequest } from './program-protocol.ts';

/** Where one run's gradients go: the gradient itself for the first micro-batch, a scratch store for later ones. */
export interface GradientTarget {
  readonly store: ParameterStore;
  readonly slot: string | undefined;
}

/**
 * The accumulated gradient of a store in host memory.
 *
 * The first micro-batch writes into the store's `gradient` slot, so a batch of one micro-batch costs no extra pass and no
 * memory is ever cleared; later ones write into a scratch store of the same layout and are added.
 */
export class AccumulatedGradient {
  readonly #host: EngineHost;
  readonly #store: ParameterStore;
  readonly #scratchName: string;
  #scratch: ParameterStore | undefined;
  #state: 'empty' | 'filled' = 'empty';
  #sumOfSquares: number | undefined;

  constructor(host: EngineHost, store: ParameterStore, scratchName: string) {
    this.#host = host;
    this.#store = store;
    this.#scratchName = scratchName;
  }

  /** Where the next micro-batch's gradients are to be written. */
  target(): GradientTarget {
    if (this.#state === 'empty') return { store: this.#store, slot: 'gradient' };
    this.#scratch ??= this.#host.createStore({ name: this.#scratchName, parameters: this.#store.parameters });
    return { store: this.#scratch, slot: undefined };
  }

  /** Takes in what a run wrote to {@link AccumulatedGradient.target}, and the rows it left to the host to add. */
  add(plan: GraphPlan, batch: MicroBatchRequest, rows: ReadonlyMap<string, Float32Array>): void {
    const { kernels } = this.#store;
    for (const { name } of this.#store.parameters) {
      const whole = Object.hasOwn(plan.gradients, name);
      if (this.#state === 'empty' && !whole) this.#store.data(name, 'gradient').fill(0);
      if (this.#state === 'filled' && whole) {
        kernels.combine(this.#store.data(name, 'gradient'), 1, this.#scratch!.data(name), 1);
      }
    }
    for (const { parameter, output, indices } of plan.scattered) {
      kernels.scatterAddRows(this.#store.data(parameter, 'gradient'), rows.get(output)!, batch[indices]);
    }
    this.#state = 'filled';
    this.#sumOfSquares = undefined;
  }

  /** Forgets everything. */
  clear(): void {
    this.#state = 'empty';
    this.#sumOfSquares = 0;
  }

  /** Zero-fills the buffer if nothing was accumulated, so that it can be read. */
  settle(): void {
    if (this.#state === 'filled') return;
    for (const segment of this.#store.segments('gradient')) segment.fill(0);
    this.#state = 'filled';
    this.#sumOfSquares = 0;
  }

  /** Global L2 norm. */
  norm(): number {
    if (this.#state === 'empty') return 0;
    this.#sumOfSquares ??= this.#measure();
    return Math.sqrt(this.#sumOfSquares);
  }

  /** Throws a TrainingError that names the first parameter whose gradient is not finite. One pass over the gradient. */
  check(): void {
    if (Number.isFinite(this.norm())) return;
    for (const { name } of this.#store.parameters) {
      const gradient = this.#store.data(name, 'gradient');
      const index = this.#store.kernels.firstNonFinite(gradient);
      if (index >= 0) {
        throw new TrainingError(
          `forwardBackward: the gradient of "${name}" is not finite (element ${index} is ${gradient[index]}); ` +
            'lower the learning rate, clip gradients, or look for extreme values in the batch',
        );
      }
    }
    throw new TrainingError(
      'forwardBackward: the norm of the gradient overflows; lower the weights of the loss',
    );
  }

  /** gradient ← factor · gradient. */
  scale(factor: number): void {
    for (const segment of this.#store.segments('gradient')) this.#store.kernels.scale(segment, factor);
    this.#sumOfSquares = undefined;
  }

  /** Frees the scratch store. */
  release(): void {
    if (this.#scratch) this.#host.deleteStore(this.#scratchName);
    this.#scratch = undefined;
  }

  #measure(): number {
    const sums = this.#store.segments('gradient').map((segment) => this.#store.kernels.sumOfSquares(segment));
    return sums.reduce((total, sum) => total + sum, 0);
  }
}
