import type { EngineHost, EngineSession, ParameterStore, Tensors } from '@rlp/onnx/runtime';
import { parameterFeeds } from './program-graphs.ts';
import type { MergePlan, NamedTensor } from './program-protocol.ts';

/** Adds a low-rank correction to frozen weights, in the engine. */
export class WeightMerger {
  readonly #host: EngineHost;
  readonly #plan: MergePlan;
  #session: EngineSession | undefined;

  constructor(host: EngineHost, plan: MergePlan) {
    this.#host = host;
    this.#plan = plan;
  }

  /** Writes the merged weights into the published store. Weights without a correction are there already. */
  async mergeInto(stores: readonly ParameterStore[]): Promise<void> {
    const published = this.#host.store(this.#plan.store);
    await this.#run(
      stores,
      Object.fromEntries(this.#plan.merged.map((name) => [`merged:${name}`, published.tensor(name)])),
    );
  }

  /** Copies of all weights, merged. */
  async merge(stores: readonly ParameterStore[]): Promise<NamedTensor[]> {
    const published = this.#host.store(this.#plan.store);
    const merged = await this.#run(stores, {});
    const copies: NamedTensor[] = [];
    for (const { name, shape } of published.parameters) {
      const tensor = merged[`merged:${name}`];
      const data = tensor ? (tensor.data as Float32Array).slice() : await published.read(name);
      copies.push({ name, shape, data });
    }
    return copies;
  }

  async close(): Promise<void> {
    await this.#session?.release();
    this.#session = undefined;
  }

  async #run(stores: readonly ParameterStore[], into: Tensors): Promise<Tensors> {
    this.#session ??= await this.#host.createSession(this.#plan.model);
    return this.#session.run(parameterFeeds(this.#plan.parameters, stores), { into });
  }
}
