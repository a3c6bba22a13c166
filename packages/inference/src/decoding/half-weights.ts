import { Graph, serialize } from '@rlp/onnx';
import { cast } from '@rlp/onnx/ops';
import type { EngineHost, ParameterStore, Tensors } from '@rlp/onnx/runtime';

/** A store's parameters on a device, in float16. */
export class HalfWeights {
  readonly #host: EngineHost;
  readonly #store: ParameterStore;
  #tensors: Tensors = {};

  constructor(host: EngineHost, store: string) {
    this.#host = host;
    this.#store = host.store(store);
  }

  /** Rounds the present weights. */
  async convert(): Promise<void> {
    this.dispose();
    const { parameters } = this.#store;
    const graph = new Graph();
    for (const { name, shape } of parameters) {
      graph.output(`half:${name}`, cast(graph.input(name, 'float32', shape), 'float16'));
    }
    const session = await this.#host.createSession(serialize(graph), {
      deviceOutputs: parameters.map(({ name }) => `half:${name}`),
    });
    const outputs = await session.run(
      Object.fromEntries(parameters.map(({ name }) => [name, this.#store.tensor(name)])),
    );
    this.#tensors = Object.fromEntries(parameters.map(({ name }) => [name, outputs[`half:${name}`]!]));
    await session.release();
  }

  /** Tensors to feed for the inputs among these names that are parameters. */
  feeds(inputs: readonly string[]): Tensors {
    return Object.fromEntries(
      inputs.flatMap((name) => (this.#tensors[name] ? [[name, this.#tensors[name]]] : [])),
    );
  }

  dispose(): void {
    for (const tensor of Object.values(this.#tensors)) tensor.dispose();
    this.#tensors = {};
  }
}
