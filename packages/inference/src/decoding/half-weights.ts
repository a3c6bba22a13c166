import { Graph, serialize } from '@rlp/onnx';
import { cast } from '@rlp/onnx/ops';
import type { EngineHost, EngineSession, ParameterSpec, ParameterStore, Tensors } from '@rlp/onnx/runtime';

/** A store's parameters on a device, in float16. */
export class HalfWeights {
  readonly #host: EngineHost;
  readonly #store: ParameterStore;
  #session: EngineSession | undefined;
  /** The rounded weights, as the session's outputs. Later runs write them in place. */
  #tensors: Tensors = {};

  constructor(host: EngineHost, store: string) {
    this.#host = host;
    this.#store = host.store(store);
  }

  /** Rounds the current weights. */
  async convert(): Promise<void> {
    const { parameters } = this.#store;
    this.#session ??= await this.#host.createSession(roundingGraph(parameters), {
      deviceOutputs: parameters.map(({ name }) => halfOf(name)),
    });
    const weights = Object.fromEntries(parameters.map(({ name }) => [name, this.#store.tensor(name)]));
    this.#tensors = await this.#session.run(weights, { into: this.#tensors });
  }

  /** Tensors to feed for the inputs among these names that are parameters. */
  feeds(inputs: readonly string[]): Tensors {
    return Object.fromEntries(
      inputs.flatMap((name) => {
        const tensor = this.#tensors[halfOf(name)];
        return tensor ? [[name, tensor]] : [];
      }),
    );
  }

  async close(): Promise<void> {
    await this.#session?.release();
    this.#session = undefined;
    for (const tensor of Object.values(this.#tensors)) tensor.dispose();
    this.#tensors = {};
  }
}

const halfOf = (parameter: string): string => `half:${parameter}`;

function roundingGraph(parameters: readonly ParameterSpec[]): Uint8Array {
  const graph = new Graph();
  for (const { name, shape } of parameters) {
    graph.output(halfOf(name), cast(graph.input(name, 'float32', shape), 'float16'));
  }
  return serialize(graph);
}
