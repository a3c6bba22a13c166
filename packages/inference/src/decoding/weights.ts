import { ArgumentError } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import { type LinearLayer, parameterSpecs } from '@rlp/models/decoder';
import type { Graph, Value } from '@rlp/onnx';
import type { EngineHost, ParameterStore } from '@rlp/onnx/runtime';
import { quantizedProduct, quantizeMatrix } from './quantized.ts';

/**
 * How sessions get their weights. `'shared'` reads the store in place, so a trainer's update is seen by the next run.
 * `'packed'` bakes a copy into the session, rearranged for matrix products. It is faster, but new weights rebuild the
 * session. `'int8'` bakes in the linear layers in 8 bits and reads the rest in place.
 */
export type WeightPlacement = 'shared' | 'packed' | 'int8';

/** A model's parameters in a store, as seen by graphs. */
export class StoredWeights {
  readonly #store: ParameterStore;
  readonly #shapes: ReadonlyMap<string, readonly number[]>;

  /** @throws ArgumentError if the store does not hold the model's parameters. */
  constructor(host: EngineHost, config: ModelConfig, store: string) {
    this.#store = host.store(store);
    this.#shapes = new Map(this.#store.parameters.map(({ name, shape }) => [name, shape]));
    for (const { name, shape } of parameterSpecs(config)) {
      const stored = this.#shapes.get(name);
      if (stored?.join() === shape.join()) continue;
      throw new ArgumentError(
        `store "${store}" does not hold this model: expected "${name}" of [${shape.join(', ')}], got ${stored ? `[${stored.join(', ')}]` : 'none'}`,
      );
    }
  }

  /** A parameter as an input of the graph. */
  input = (graph: Graph, name: string): Value => graph.input(name, 'float32', this.#shape(name));

  /** A parameter as part of the graph: a copy of its present value. @throws ArgumentError for weights on a device. */
  initializer = (graph: Graph, name: string): Value => {
    if (this.#store.residency === 'host') {
      return graph.initializer(name, 'float32', this.#shape(name), this.#store.data(name));
    }
    throw new ArgumentError(
      `store "${this.#store.name}" is on a device, where weights cannot be packed; use weights: 'shared'`,
    );
  };

  /** A linear layer's product with its weight in 8 bits as part of the graph: a copy of its present value. */
  quantized = (x: Value, layer: LinearLayer): Value =>
    quantizedProduct(x, layer.weight, quantizeMatrix(this.#store.data(layer.weight), layer));

  /** Tensors to feed for the inputs among these names that are parameters. */
  feeds(inputs: readonly string[]) {
    const names = inputs.filter((name) => this.#shapes.has(name));
    return Object.fromEntries(names.map((name) => [name, this.#store.tensor(name)]));
  }

  #shape(name: string): readonly number[] {
    return this.#shapes.get(name)!;
  }
}
