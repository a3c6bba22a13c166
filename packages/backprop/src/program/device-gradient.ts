import { Graph, serialize } from '@rlp/onnx';
import { add, addAll, reshape, square, sum } from '@rlp/onnx/ops';
import type { EngineHost, EngineSession, ParameterStore, Tensor, Tensors } from '@rlp/onnx/runtime';
import { checkGradient, overflowError } from '../batch/not-finite.ts';
import type { GradientAccumulator } from './gradients.ts';
import { ParameterGraphs } from './parameter-graphs.ts';
import type { CompiledGraph } from './program-graphs.ts';
import { clearParameters } from './store-copies.ts';

/**
 * Accumulated gradient of a store on a device. It stays there, and runs write it in place. Only its norm is read.
 *
 * The first micro-batch writes into the store's `gradient` slot. Later ones write into a scratch store and are added.
 */
export class DeviceGradient implements GradientAccumulator {
  readonly #host: EngineHost;
  readonly #store: ParameterStore;
  readonly #scratchName: string;
  readonly #sums: ParameterGraphs;
  #squares: EngineSession | undefined;
  #scratch: ParameterStore | undefined;
  #isAllocated = false;
  #state: 'empty' | 'filled' = 'empty';
  #norm: number | undefined = 0;

  constructor(host: EngineHost, store: ParameterStore, scratchName: string) {
    this.#host = host;
    this.#store = store;
    this.#scratchName = scratchName;
    this.#sums = new ParameterGraphs(host);
  }

  async outputs({ plan }: CompiledGraph): Promise<Tensors> {
    const { store, slot } = await this.#target();
    const into = Object.entries(plan.gradients).map(([name, output]) => [output, store.tensor(name, slot)]);
    return Object.fromEntries(into) as Tensors;
  }

  async add({ plan }: CompiledGraph): Promise<void> {
    const { store, slot } = await this.#target();
    const others = store.parameters.filter(({ name }) => plan.gradients[name] === undefined);
    await clearParameters(store, others, slot);
    if (this.#state === 'filled') await this.#addScratch();
    this.#state = 'filled';
    this.#norm = undefined;
  }

  clear(): void {
    this.#state = 'empty';
    this.#norm = 0;
  }

  /** Sets the gradient to zero if nothing was accumulated. It might hold NaN from a rejected step. */
  async settle(): Promise<void> {
    if (this.#state === 'filled') return;
    await clearParameters(this.#store, this.#store.parameters, 'gradient');
  }

  async norm(): Promise<number> {
    this.#norm ??= Math.sqrt(await this.#measure());
    return this.#norm;
  }

  async check(): Promise<void> {
    if (Number.isFinite(await this.norm())) return;
    for (const { name } of this.#store.parameters) {
      checkGradient(name, await this.#store.read(name, 'gradient'));
    }
    throw overflowError();
  }

  async release(): Promise<void> {
    await this.#sums.release();
    await this.#squares?.release();
    if (this.#scratch) this.#host.deleteStore(this.#scratchName);
    this.#scratch = undefined;
  }

  /** Where the next run writes: tensors that are on the device. */
  async #target(): Promise<{ readonly store: ParameterStore; readonly slot?: string }> {
    const { parameters } = this.#store;
    if (this.#state === 'empty') {
      if (!this.#isAllocated) await clearParameters(this.#store, parameters, 'gradient');
      this.#isAllocated = true;
      return { store: this.#store, slot: 'gradient' };
    }
    if (!this.#scratch) {
      this.#scratch = this.#host.createStore({ name: this.#scratchName, parameters });
      await clearParameters(this.#scratch, parameters);
    }
    return { store: this.#scratch };
  }

  async #addScratch(): Promise<void> {
    const totals = this.#store.stretches!('gradient').map(({ tensor }) => tensor);
    const parts = this.#scratch!.stretches!().map(({ tensor }) => tensor);
    const named = (prefix: string, tensors: readonly Tensor[]) =>
      Object.fromEntries(tensors.map((tensor, index) => [`${prefix}${index}`, tensor]));
    await this.#sums.run(
      'sums',
      { ...named('total', totals), ...named('part', parts) },
      (inputs) =>
        Object.fromEntries(
          totals.map((_, index) => [`sum${index}`, add(inputs[`total${index}`]!, inputs[`part${index}`]!)]),
        ),
      named('sum', totals),
    );
  }

  async #measure(): Promise<number> {
    const stretches = this.#store.stretches!('gradient').map(({ tensor }) => tensor);
    this.#squares ??= await this.#host.createSession(squaresGraph(stretches.map(({ dims }) => dims)));
    const feeds = Object.fromEntries(stretches.map((tensor, index) => [`x${index}`, tensor]));
    const { total } = await this.#squares.run(feeds);
    return (total!.data as Float32Array)[0]!;
  }
}

/** Σ x² of inputs `x0`, `x1`, … Rows first: WebGPU sums all numbers of a tensor in one of its many groups. */
function squaresGraph(shapes: readonly (readonly number[])[]): Uint8Array {
  const graph = new Graph();
  const sums = shapes.map((shape, index) => {
    const squares = square(graph.input(`x${index}`, 'float32', shape));
    return sum(shape.length > 1 ? sum(squares, { axes: -1 }) : squares);
  });
  const [first, ...rest] = sums.map((value) => reshape(value, [1]));
  graph.output('total', addAll([first!, ...rest]));
  return serialize(graph);
}
