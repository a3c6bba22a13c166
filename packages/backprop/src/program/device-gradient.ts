import { Graph, serialize } from '@rlp/onnx';
import { add, addAll, reshape, square, sum } from '@rlp/onnx/ops';
import type { EngineHost, EngineSession, ParameterStore, Tensors } from '@rlp/onnx/runtime';
import type { MicroBatch } from '../batch/fill.ts';
import { checkGradient, overflowError } from '../batch/not-finite.ts';
import { ParameterGraphs } from './element-graphs.ts';
import type { GradientAccumulator } from './gradients.ts';
import type { CompiledGraph } from './program-graphs.ts';
import { clearParameters } from './store-copies.ts';

/** Accumulated gradient of a store on a device. It stays there. Only its norm is read. */
export class DeviceGradient implements GradientAccumulator {
  readonly #host: EngineHost;
  readonly #store: ParameterStore;
  readonly #sums: ParameterGraphs;
  /** Parameters whose gradient buffer holds zeros. */
  readonly #zeros = new Set<string>();
  #squares: EngineSession | undefined;
  #state: 'empty' | 'filled' = 'empty';
  #norm: number | undefined = 0;

  constructor(host: EngineHost, store: ParameterStore) {
    this.#host = host;
    this.#store = store;
    this.#sums = new ParameterGraphs(host);
  }

  outputs(): Tensors {
    return {};
  }

  async add({ plan }: CompiledGraph, _batch: MicroBatch, results: Tensors): Promise<void> {
    const { parameters } = this.#store;
    if (this.#state === 'empty') {
      await this.#zero(parameters.filter(({ name }) => plan.gradients[name] === undefined));
    }
    for (const { name, shape } of parameters) {
      const output = plan.gradients[name];
      if (output === undefined) continue;
      const part = results[output]!;
      const nothingYet = this.#zeros.delete(name) || this.#state === 'empty';
      if (nothingYet) {
        this.#store.replace(name, part, 'gradient');
        continue;
      }
      const { sum: total } = await this.#sums.run(
        shape.join(),
        { a: this.#store.tensor(name, 'gradient'), b: part },
        ({ a, b }) => ({ sum: add(a, b) }),
      );
      this.#store.replace(name, total!, 'gradient');
      part.dispose();
    }
    this.#state = 'filled';
    this.#norm = undefined;
  }

  clear(): void {
    this.#state = 'empty';
    this.#norm = 0;
  }

  /**
   * Sets the gradient to zero if nothing was accumulated. Otherwise buffers might hold NaN from a rejected
   * step.
   */
  async settle(): Promise<void> {
    if (this.#state === 'filled') return;
    await this.#zero(this.#store.parameters);
  }

  /** Global L2 norm. */
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
  }

  /** Sets gradients of parameters to zero. Without a new gradient, they hold that of an earlier step. */
  async #zero(parameters: ParameterStore['parameters']): Promise<void> {
    const names = parameters.map(({ name }) => name).filter((name) => !this.#zeros.has(name));
    await clearParameters(this.#store, names, 'gradient');
    for (const name of names) this.#zeros.add(name);
  }

  async #measure(): Promise<number> {
    const { parameters } = this.#store;
    this.#squares ??= await this.#host.createSession(squaresGraph(parameters));
    const feeds = Object.fromEntries(
      parameters.map(({ name }) => [name, this.#store.tensor(name, 'gradient')]),
    );
    const { total } = await this.#squares.run(feeds);
    return (total!.data as Float32Array)[0]!;
  }
}

function squaresGraph(parameters: ParameterStore['parameters']): Uint8Array {
  const graph = new Graph();
  const squares = parameters.map(({ name, shape }) => sum(square(graph.input(name, 'float32', shape))));
  const [first, ...rest] = squares.map((value) => reshape(value, [1]));
  graph.output('total', addAll([first!, ...rest]));
  return serialize(graph);
}
