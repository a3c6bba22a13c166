import { type EngineHost, type ParameterStore, Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import { checkGradient, overflowError } from '../batch/not-finite.ts';
import { blockTensor, type CompiledGraph } from './program-graphs.ts';

/** Gradient of a store's parameters, summed over micro-batches, on host or device. */
export interface GradientAccumulator {
  /** Preallocated tensors for outputs of the next run. The run returns all other outputs. */
  outputs(graph: CompiledGraph, batch: MicroBatch): Tensors | Promise<Tensors>;
  /** Adds the gradients of a run. */
  add(graph: CompiledGraph, batch: MicroBatch, results: Tensors): Promise<void>;
  /** Throws a TrainingError that names the first parameter whose gradient is not finite. */
  check(): Promise<void>;
  /** Sets the buffer to zero if nothing was accumulated, so that it can be read. */
  settle(): void | Promise<void>;
  /** Global L2 norm. */
  norm(): number | Promise<number>;
  /** Drops the accumulated gradient. */
  clear(): void;
  /** Frees allocated stores and tensors. */
  release(): Promise<void>;
}

/**
 * Accumulated gradient of a store in host memory.
 *
 * The first micro-batch writes into the store's `gradient` slot. A batch of one micro-batch therefore needs
 * no extra pass, and no memory is cleared. Later micro-batches write into a scratch store of the same layout
 * and are added.
 */
export class AccumulatedGradient implements GradientAccumulator {
  readonly #host: EngineHost;
  readonly #store: ParameterStore;
  readonly #scratchName: string;
  readonly #rows = new Map<string, Float32Array<ArrayBuffer>>();
  #scratch: ParameterStore | undefined;
  #state: 'empty' | 'filled' = 'empty';
  #sumOfSquares: number | undefined;

  constructor(host: EngineHost, store: ParameterStore, scratchName: string) {
    this.#host = host;
    this.#store = store;
    this.#scratchName = scratchName;
  }

  outputs({ plan }: CompiledGraph, batch: MicroBatch): Tensors {
    const { store, slot } = this.#target();
    const into: Record<string, Tensor> = {};
    for (const [parameter, output] of Object.entries(plan.gradients)) {
      into[output] = store.tensor(parameter, slot);
    }
    for (const block of plan.blocks) {
      if (block.output !== undefined) into[block.output] = blockTensor(store, block, slot);
    }
    for (const { output, indices, width } of plan.scattered) {
      const shape = [batch[indices].length, width];
      into[output] = new Tensor('float32', this.#rowsFor(output, shape[0]! * width), shape);
    }
    return into;
  }

  async add({ plan }: CompiledGraph, batch: MicroBatch): Promise<void> {
    const { kernels } = this.#store;
    const inBlocks = plan.blocks.filter(({ output }) => output !== undefined);
    const written = new Set([...Object.keys(plan.gradients), ...inBlocks.map(({ parameter }) => parameter)]);
    for (const { name } of this.#store.parameters) {
      const whole = written.has(name);
      if (this.#state === 'empty' && !whole) this.#store.data(name, 'gradient').fill(0);
      if (this.#state === 'filled' && whole) {
        kernels.combine(this.#store.data(name, 'gradient'), 1, this.#scratch!.data(name), 1);
      }
    }
    for (const { parameter, output, indices, width } of plan.scattered) {
      const rows = this.#rowsFor(output, batch[indices].length * width);
      kernels.scatterAddRows(this.#store.data(parameter, 'gradient'), rows, batch[indices]);
    }
    this.#state = 'filled';
    this.#sumOfSquares = undefined;
  }

  clear(): void {
    this.#state = 'empty';
    this.#sumOfSquares = 0;
  }

  settle(): void {
    if (this.#state === 'filled') return;
    for (const segment of this.#store.segments('gradient')) segment.fill(0);
    this.#state = 'filled';
    this.#sumOfSquares = 0;
  }

  norm(): number {
    if (this.#state === 'empty') return 0;
    this.#sumOfSquares ??= this.#measure();
    return Math.sqrt(this.#sumOfSquares);
  }

  /** Computes the norm in one pass and keeps it for the update. */
  async check(): Promise<void> {
    if (Number.isFinite(this.norm())) return;
    for (const { name } of this.#store.parameters) {
      checkGradient(name, this.#store.data(name, 'gradient'));
    }
    throw overflowError();
  }

  /** gradient ← factor · gradient. */
  scale(factor: number): void {
    for (const segment of this.#store.segments('gradient')) this.#store.kernels.scale(segment, factor);
    this.#sumOfSquares = undefined;
  }

  async release(): Promise<void> {
    if (this.#scratch) this.#host.deleteStore(this.#scratchName);
    this.#scratch = undefined;
  }

  /** Buffer of an output whose rows are added here. Grows to the largest micro-batch. */
  #rowsFor(output: string, size: number): Float32Array<ArrayBuffer> {
    const known = this.#rows.get(output);
    const buffer = known && known.length >= size ? known : new Float32Array(size);
    this.#rows.set(output, buffer);
    return buffer.subarray(0, size);
  }

  #target(): { readonly store: ParameterStore; readonly slot?: string } {
    if (this.#state === 'empty') return { store: this.#store, slot: 'gradient' };
    this.#scratch ??= this.#host.createStore({
      name: this.#scratchName,
      parameters: this.#store.parameters,
    });
    return { store: this.#scratch };
  }

  #measure(): number {
    const sums = this.#store.segments('gradient').map((segment) => this.#store.kernels.sumOfSquares(segment));
    return sums.reduce((total, sum) => total + sum, 0);
  }
}
