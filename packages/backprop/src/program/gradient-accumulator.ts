import type { ParameterStore, Tensors } from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import { checkGradient, overflowError } from '../batch/not-finite.ts';
import type { GradientSums } from '../program-protocol.ts';
import type { CompiledGraph } from './program-graphs.ts';

/** Tensors of a run that adds a micro-batch to a gradient. */
export interface GradientTensors {
  /** Feeds besides parameters and arrays of the micro-batch. */
  readonly feeds: Tensors;
  /** Preallocated outputs. The run returns all others. */
  readonly into: Tensors;
}

/** Gradient of a store's parameters in its slot `gradient`, summed over micro-batches, on host or device. */
export abstract class GradientAccumulator {
  protected readonly store: ParameterStore;
  protected state: 'empty' | 'filled' = 'empty';
  #norm: number | undefined = 0;

  constructor(store: ParameterStore) {
    this.store = store;
  }

  /** Graph that the next micro-batches need, so many of them. */
  abstract sumsOf(microBatches: number): GradientSums;
  /** Tensors of the next run. */
  abstract tensors(graph: CompiledGraph, batch: MicroBatch): GradientTensors | Promise<GradientTensors>;
  /** Adds what a run computed apart from the sums. */
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
  async release(): Promise<void> {}

  /** The gradient changed. */
  protected filled(): void {
    this.state = 'filled';
    this.#norm = undefined;
  }
}
