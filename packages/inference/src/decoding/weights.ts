import { ArgumentError } from '@rlp/core';
import type { ModelConfig } from '@rlp/models';
import {
  asInt8,
  bytesPerBlock,
  correctionNames,
  headParameter,
  type LinearLayer,
  linearLayers,
  parameterSpecs,
  type QuantizedForm,
  quantizedForms,
  quantizedNames,
  quantizedProduct,
  quantizeMatrix,
  storedMatrix,
} from '@rlp/models/decoder';
import type { DataType, Graph, Value } from '@rlp/onnx';
import { add, gemm } from '@rlp/onnx/ops';
import { type EngineHost, type ParameterStore, packedBytes } from '@rlp/onnx/runtime';
import type { LayerProduct } from './blocks.ts';
import { bakedProduct } from './quantized-product.ts';
import type { WeightFile } from './weight-file.ts';

/**
 * How sessions hold the weights. `'shared'` reads the store in place, so the next run sees a trainer's update. `'packed'` builds a copy
 * into the session, rearranged for matrix products. It is faster, but new weights rebuild the session. `'int8'` builds in the linear layers
 * and the head in 8 bits and reads the rest in place. `'float16'` reads a copy on the device.
 */
export type WeightPlacement = 'shared' | 'packed' | 'int8' | 'float16';

/**
 * Parameters of a model in a store, for use in graphs.
 *
 * A trainer of a low-rank correction may store the linear layers in 8 or 4 bits, and the factors of its correction beside them.
 */
export class StoredWeights {
  readonly #store: ParameterStore;
  readonly #shapes: ReadonlyMap<string, readonly number[]>;
  /** How the store holds the linear layers. */
  readonly form: QuantizedForm | 'float32';
  /** Weights of the linear layers. Routers of experts are not among them. */
  readonly #linear: ReadonlySet<string>;
  /** Weights that are rounded if the store holds them in float32: those, and the head. */
  readonly #rounded: ReadonlySet<string>;

  /** @throws ArgumentError if the store does not hold the model's parameters. */
  constructor(host: EngineHost, config: ModelConfig, store: string) {
    this.#store = host.store(store);
    this.#shapes = new Map(this.#store.parameters.map(({ name, shape }) => [name, shape]));
    this.#linear = new Set(linearLayers(config).map(({ weight }) => weight));
    this.#rounded = new Set([...this.#linear, headParameter(config)]);
    const held = (form: QuantizedForm) => [...this.#linear].some((weight) => this.#holds(weight, form));
    this.form = quantizedForms.find(held) ?? 'float32';
    for (const { name, shape } of parameterSpecs(config)) {
      if (this.#linear.has(name) && this.#quantizedForm(name)) continue;
      const stored = this.#shapes.get(name);
      if (stored?.join() === shape.join()) continue;
      throw new ArgumentError(
        `store "${store}" does not hold this model: expected "${name}" of [${shape.join(', ')}], got ${stored ? `[${stored.join(', ')}]` : 'none'}`,
      );
    }
  }

  /** A parameter as an input of the graph. */
  input = (graph: Graph, name: string, type: DataType = 'float32'): Value =>
    graph.input(name, type, this.#shape(name));

  /**
   * A parameter as part of the graph: a copy of its current value.
   *
   * @throws ArgumentError for weights on a device.
   */
  initializer(graph: Graph, name: string, file: WeightFile): Value {
    if (this.#store.residency === 'host') {
      return graph.initializer(name, 'float32', this.#shape(name), file.place(this.#store.data(name)));
    }
    throw new ArgumentError(
      `store "${this.#store.name}" is on a device, where weights cannot be packed; use weights: 'shared'`,
    );
  }

  /** Products of the store's quantized layers. They read it in place. */
  storedProduct: LayerProduct = (x, layer) => {
    const form = this.#quantizedForm(layer.weight);
    if (!form) return undefined;
    const y = quantizedProduct(x, layer, form, (name, type, shape) => x.graph.input(name, type, shape));
    return this.#corrected(y, x, layer);
  };

  /** The same with a copy in 8 bits as part of the graph. Layers in 4 bits are converted to 8 bits, which have a fast product. */
  bakedProduct(file: WeightFile): LayerProduct {
    return (x, layer) => {
      const form = this.#quantizedForm(layer.weight);
      if (!form) return undefined;
      const matrix = asInt8(storedMatrix((name) => this.#store.data(name), layer, form));
      return this.#corrected(bakedProduct(x, layer.weight, matrix, file), x, layer);
    };
  }

  /** Products with weights in 8 bits as part of the graph, rounded if the store holds them in float32. */
  roundedProduct(file: WeightFile): LayerProduct {
    const baked = this.bakedProduct(file);
    return (x, layer) => {
      const product = baked(x, layer);
      if (product !== undefined || !this.#rounded.has(layer.weight)) return product;
      const matrix = quantizeMatrix(this.#store.data(layer.weight), layer, 'int8');
      return bakedProduct(x, layer.weight, matrix, file);
    };
  }

  /** Tensors to feed for the inputs among these names that are parameters. */
  feeds(inputs: readonly string[]) {
    const names = inputs.filter((name) => this.#shapes.has(name));
    const tensor = (name: string) => {
      const width = bytesPerBlock(name);
      return width === undefined ? this.#store.tensor(name) : packedBytes(this.#store, name, width);
    };
    return Object.fromEntries(names.map((name) => [name, tensor(name)]));
  }

  #quantizedForm(weight: string): QuantizedForm | undefined {
    return this.form !== 'float32' && this.#holds(weight, this.form) ? this.form : undefined;
  }

  #holds(weight: string, form: QuantizedForm): boolean {
    return this.#shapes.has(quantizedNames(weight, form).bytes);
  }

  /** The output of a layer with its published correction, if it has one. */
  #corrected(y: Value, x: Value, { weight }: LinearLayer): Value {
    const names = correctionNames(weight);
    if (!this.#shapes.has(names.down)) return y;
    const narrow = gemm(x, this.input(x.graph, names.down), { transposeB: 'yes' });
    return add(y, gemm(narrow, this.input(x.graph, names.up), { transposeB: 'yes' }));
  }

  #shape(name: string): readonly number[] {
    return this.#shapes.get(name)!;
  }
}
