import { Graph, serialize } from '@rlp/onnx';
import { add, addAll, reshape, square, sum } from '@rlp/onnx/ops';
import type { EngineHost, EngineSession, ParameterStore, Tensor, Tensors } from '@rlp/onnx/runtime';
import type { GradientSums } from '../program-protocol.ts';
import { GradientAccumulator, type GradientTensors } from './gradient-accumulator.ts';
import { ParameterGraphs } from './parameter-graphs.ts';
import type { CompiledGraph } from './program-graphs.ts';
import { clearParameters } from './store-copies.ts';

/** A store and the slot in it that the next run writes to. */
interface GradientTarget {
  readonly store: ParameterStore;
  readonly slot?: string;
}

/**
 * Accumulated gradient of a store on a device. It stays there, and runs write it in place. Only its norm is read.
 *
 * The first micro-batch writes into the slot. Later ones write into a scratch store of the same layout and are added.
 */
export class DeviceGradient extends GradientAccumulator {
  readonly #host: EngineHost;
  readonly #sums: ParameterGraphs;
  readonly #onDevice = new WeakSet<ParameterStore>();
  readonly #scratchName: string;
  #scratch: ParameterStore | undefined;
  #squares: EngineSession | undefined;

  constructor(host: EngineHost, store: ParameterStore, scratchName: string) {
    super(store);
    this.#host = host;
    this.#scratchName = scratchName;
    this.#sums = new ParameterGraphs(host);
  }

  sumsOf(): GradientSums {
    return 'alone';
  }

  async tensors({ plan }: CompiledGraph): Promise<GradientTensors> {
    const { store, slot } = await this.#allocated();
    const into = Object.entries(plan.gradients).map(([name, output]) => [output, store.tensor(name, slot)]);
    return { feeds: {}, into: Object.fromEntries(into) as Tensors };
  }

  async add({ plan }: CompiledGraph): Promise<void> {
    const { store, slot } = await this.#allocated();
    const others = store.parameters.filter(({ name }) => plan.gradients[name] === undefined);
    await clearParameters(store, others, slot);
    if (this.state === 'filled') await this.#addScratch();
    this.filled();
  }

  override async release(): Promise<void> {
    await this.#sums.release();
    await this.#squares?.release();
    if (this.#scratch) this.#host.deleteStore(this.#scratchName);
    this.#scratch = undefined;
  }

  /** Where the next run writes: tensors that are on the device. */
  async #allocated(): Promise<GradientTarget> {
    const target = this.#target();
    const { store, slot } = target;
    if (!this.#onDevice.has(store)) await clearParameters(store, store.parameters, slot);
    this.#onDevice.add(store);
    return target;
  }

  #target(): GradientTarget {
    if (this.state === 'empty') return { store: this.store, slot: 'gradient' };
    const { parameters } = this.store;
    this.#scratch ??= this.#host.createStore({ name: this.#scratchName, parameters });
    return { store: this.#scratch };
  }

  async #addScratch(): Promise<void> {
    const totals = this.store.stretches!('gradient').map(({ tensor }) => tensor);
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

  protected zero(): Promise<void> {
    return clearParameters(this.store, this.store.parameters, 'gradient');
  }

  protected async sumOfSquares(): Promise<number> {
    const stretches = this.store.stretches!('gradient').map(({ tensor }) => tensor);
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
