import { correctionNames, dequantizeMatrix, type LinearLayer, storedMatrix } from '@rlp/models/decoder';
import { type EngineHost, type EngineSession, type ParameterStore, Tensor } from '@rlp/onnx/runtime';
import type { NamedTensor } from '../program-protocol.ts';
import { mergeGraph } from '../weights/lora-graphs.ts';
import type { LoraTarget, QuantizedMergePlan } from '../weights/merge-plan.ts';
import { parameterFeeds } from './program-graphs.ts';
import type { Merger } from './weight-merger.ts';

/**
 * Publishes the factors of a correction beside quantized frozen weights, so that the weights are never made again. Samplers apply
 * the factors to a layer's input.
 */
export class QuantizedMerger implements Merger {
  readonly #host: EngineHost;
  readonly #plan: QuantizedMergePlan;
  readonly #sessions = new Map<LinearLayer['order'], EngineSession>();

  constructor(host: EngineHost, plan: QuantizedMergePlan) {
    this.#host = host;
    this.#plan = plan;
  }

  async mergeInto(stores: readonly ParameterStore[]): Promise<void> {
    const { targets, modules, scale } = this.#plan;
    const published = this.#host.store(this.#plan.store);
    for (const { name } of modules) published.data(name).set(trainedData(name, stores));
    for (const { layer, down, up } of targets) {
      const feeds = parameterFeeds([down.name, up.name], stores);
      const names = correctionNames(layer.weight);
      published.data(names.down).set(feeds[down.name]!.data as Float32Array);
      published.kernels.combine(published.data(names.up), 0, feeds[up.name]!.data as Float32Array, scale);
    }
  }

  async merge(stores: readonly ParameterStore[]): Promise<NamedTensor[]> {
    const { parameters, modules, layers, form, targets } = this.#plan;
    const whole = new Set(modules.map(({ name }) => name));
    const published = this.#host.store(this.#plan.store);
    const quantized = new Map(layers.map((layer) => [layer.weight, layer]));
    const corrected = new Map(targets.map((target) => [target.layer.weight, target]));
    const merged: NamedTensor[] = [];
    for (const { name, shape } of parameters) {
      if (whole.has(name)) {
        merged.push({ name, shape, data: trainedData(name, stores).slice() });
        continue;
      }
      const layer = quantized.get(name);
      const target = corrected.get(name);
      const stored = layer
        ? dequantizeMatrix(
            storedMatrix((tensor) => published.data(tensor), layer, form),
            layer,
          )
        : await published.read(name);
      const data = target ? await this.#correct(stored, shape, target, stores) : stored;
      merged.push({ name, shape, data });
    }
    return merged;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await session.release();
    this.#sessions.clear();
  }

  async #correct(
    stored: Float32Array,
    shape: readonly number[],
    { layer, down, up }: LoraTarget,
    stores: readonly ParameterStore[],
  ): Promise<Float32Array> {
    const feeds = parameterFeeds([down.name, up.name], stores);
    const data = new Float32Array(stored.length);
    const session = await this.#session(layer.order);
    await session.run(
      {
        base: new Tensor('float32', stored, shape),
        down: feeds[down.name]!,
        up: feeds[up.name]!,
      },
      { into: { merged: new Tensor('float32', data, shape) } },
    );
    return data;
  }

  async #session(order: LinearLayer['order']): Promise<EngineSession> {
    const known = this.#sessions.get(order);
    if (known) return known;
    const session = await this.#host.createSession(mergeGraph(order, this.#plan.scale));
    this.#sessions.set(order, session);
    return session;
  }
}

/** Numbers of a parameter in the first store that has it. */
function trainedData(name: string, stores: readonly ParameterStore[]): Float32Array {
  return parameterFeeds([name], stores)[name]!.data as Float32Array;
}
