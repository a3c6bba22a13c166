import type { EngineHost, ParameterStore, Tensors } from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import { checkGradient, overflowError } from '../batch/not-finite.ts';
import type { CompiledGraph } from './program-graphs.ts';

/** A store and the slot in it that the next run writes to. */
export interface GradientTarget {
  readonly store: ParameterStore;
  readonly slot?: string;
}

/**
 * Gradient of a store's parameters, summed over micro-batches, on host or device.
 *
 * The first micro-batch writes into the store's `gradient` slot. A batch of one micro-batch therefore needs no extra pass. Later
 * micro-batches write into a scratch store of the same layout and are added.
 */
export abstract class GradientAccumulator {
  protected readonly store: ParameterStore;
  protected scratch: ParameterStore | undefined;
  protected state: 'empty' | 'filled' = 'empty';
  readonly #host: EngineHost;
  readonly #scratchName: string;
  #norm: number | undefined = 0;

  constructor(host: EngineHost, store: ParameterStore, scratchName: string) {
    this.#host = host;
    this.store = store;
    this.#scratchName = scratchName;
  }

  /** Preallocated tensors for outputs of the next run. The run returns all other outputs. */
  abstract outputs(graph: CompiledGraph, batch: MicroBatch): Tensors | Promise<Tensors>;
  /** Adds the gradients of a run. */
  abstract add(graph: CompiledGraph, batch: MicroBatch): Promise<void>;
  /** Sets all numbers to zero. */
  protected abstract zero(): void | Promise<void>;
  /** Sum of the squares of all numbers. */
  protected abstract sumOfSquares(): number | Promise<number>;

  /** Global L2 norm. It is measured once and kept for the update. */
  async norm(): Promise<number> {
    this.#norm ??= Math.sqrt(await this.sumOfSquares());
    return this.#norm;
  }

  /** @throws TrainingError naming the first parameter whose gradient is not finite. */
  async check(): Promise<void> {
    if (Number.isFinite(await this.norm())) return;
    for (const { name } of this.store.parameters) {
      checkGradient(name, await this.store.read(name, 'gradient'));
    }
    throw overflowError();
  }

  /** Sets the gradient to zero if nothing was accumulated, so that it can be read. It might hold NaN from a rejected step. */
  async settle(): Promise<void> {
    if (this.state === 'empty') await this.zero();
  }

  /** Drops the accumulated gradient. */
  clear(): void {
    this.state = 'empty';
    this.#norm = 0;
  }

  /** Frees allocated stores and tensors. */
  async release(): Promise<void> {
    if (this.scratch) this.#host.deleteStore(this.#scratchName);
    this.scratch = undefined;
  }

  protected target(): GradientTarget {
    if (this.state === 'empty') return { store: this.store, slot: 'gradient' };
    const { parameters } = this.store;
    this.scratch ??= this.#host.createStore({ name: this.#scratchName, parameters });
    return { store: this.scratch };
  }

  /** The gradient changed. */
  protected filled(): void {
    this.state = 'filled';
    this.#norm = undefined;
  }
}
