import { Graph, serialize } from '@rlp/onnx';
import { add, addAll, reshape, square, sum } from '@rlp/onnx/ops';
import type { EngineHost, EngineSession, ParameterStore, Tensors } from '@rlp/onnx/runtime';
import { checkGradient, overflowError } from '../batch/not-finite.ts';
import { ParameterGraphs } from './element-graphs.ts';
import type { GradientAccumulator } from './gradients.ts';
import type { CompiledGraph } from './program-graphs.ts';
import { clearParameters } from './store-copies.ts';

/**
 * Accumulated gradient of a store whose parameters are neighbours on a device. It stays there, and runs write it in place.
 *
 * The first micro-batch writes into the store's `gradient` slot. Later ones write into a scratch store and are added.
 */
export class FlatGradient implements GradientAccumulator {
  readonly #host: EngineHost;
  readonly #store: ParameterStore;
  readonly #scratchName: string;
  readonly #sums: ParameterGraphs;
  #squares: EngineSession | undefined;
  #scratch: ParameterStore | undefined;
  #state: 'empty' | 'filled' = 'empty';
  #norm: number | undefined = 0;

  constructor(host: EngineHost, store: ParameterStore, scratchName: string) {
    this.#host = host;
    this.#store = store;
    this.#scratchName = scratchName;
    this.#sums = new ParameterGraphs(host);
  }

  outputs({ plan }: CompiledGraph): Tensors {
    const { store, slot } = this.#target();
    const into = Object.entries(plan.gradients).map(([name, output]) => [output, store.tensor(name, slot)]);
    return Object.fromEntries(into) as Tensors;
  }

  async add({ plan }: CompiledGraph): Promise<void> {
    const { store, slot } = this.#target();
    const others = store.parameters.filter(({ name }) => plan.gradients[name] === undefined);
    const names = others.map(({ name }) => name);
    await clearParameters(store, names, slot);
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
    const names = this.#store.parameters.map(({ name }) => name);
    await clearParameters(this.#store, names, 'gradient');
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

  #target(): { readonly store: ParameterStore; readonly slot?: string } {
    if (this.#state === 'empty') return { store: this.#store, slot: 'gradient' };
    const { parameters } = this.#store;
    this.#scratch ??= this.#host.createStore({ name: this.#scratchName, parameters });
    return { store: this.#scratch };
  }

  async #addScratch(): Promise<void> {
    const parts = this.#scratch!.stretches!();
    for (const [index, { tensor: total }] of this.#store.stretches!('gradient').entries()) {
      await this.#sums.run(
        `${index}`,
        { a: total, b: parts[index]!.tensor },
        ({ a, b }) => ({ sum: add(a, b) }),
        { sum: total },
      );
    }
  }

  async #measure(): Promise<number> {
    const stretches = this.#store.stretches!('gradient').map(({ tensor }) => tensor);
    this.#squares ??= await this.#host.createSession(squaresGraph(stretches.map(({ dims }) => dims)));
    const feeds = Object.fromEntries(stretches.map((tensor, index) => [`x${index}`, tensor]));
    const { total } = await this.#squares.run(feeds);
    return (total!.data as Float32Array)[0]!;
  }
}

/** Σ x² of inputs `x0`, `x1`, … */
function squaresGraph(shapes: readonly (readonly number[])[]): Uint8Array {
  const graph = new Graph();
  const sums = shapes.map((shape, index) => sum(square(graph.input(`x${index}`, 'float32', shape))));
  const [first, ...rest] = sums.map((value) => reshape(value, [1]));
  graph.output('total', addAll([first!, ...rest]));
  return serialize(graph);
}
