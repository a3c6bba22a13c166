import type { EngineHost, EngineSession, ParameterStore, Tensors } from '@rlp/onnx/runtime';
import type { NamedTensor } from '../program-protocol.ts';
import type { MergeGraphPlan } from '../weights/merge-plan.ts';
import { parameterFeeds } from './program-graphs.ts';

/** Makes published weights from frozen ones and a low-rank correction, in the engine. */
export interface Merger {
  /** Brings the published store up to date. */
  mergeInto(stores: readonly ParameterStore[]): Promise<void>;
  /** Copies of all weights, merged. */
  merge(stores: readonly ParameterStore[]): Promise<NamedTensor[]>;
  close(): Promise<void>;
}

/** Adds a low-rank correction to frozen weights by one graph. */
export class WeightMerger implements Merger {
  readonly #host: EngineHost;
  readonly #plan: MergeGraphPlan;
  readonly #sessions = new Map<'device' | 'host', EngineSession>();

  constructor(host: EngineHost, plan: MergeGraphPlan) {
    this.#host = host;
    this.#plan = plan;
  }

  /** Writes the merged weights into the published store. Weights without a correction are already there. */
  async mergeInto(stores: readonly ParameterStore[]): Promise<void> {
    const published = this.#host.store(this.#plan.store);
    if (published.residency === 'device') {
      const results = await this.#run('device', stores, {});
      for (const name of this.#plan.merged) published.replace(name, results[`merged:${name}`]!);
      return;
    }
    const into = this.#plan.merged.map((name) => [`merged:${name}`, published.tensor(name)] as const);
    await this.#run('host', stores, Object.fromEntries(into));
  }

  /** Copies of all weights, merged. */
  async merge(stores: readonly ParameterStore[]): Promise<NamedTensor[]> {
    const published = this.#host.store(this.#plan.store);
    const merged = await this.#run('host', stores, {});
    const copies: NamedTensor[] = [];
    for (const { name, shape } of published.parameters) {
      const tensor = merged[`merged:${name}`];
      const data = tensor ? (tensor.data as Float32Array).slice() : await published.read(name);
      copies.push({ name, shape, data });
    }
    return copies;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions.values()) await session.release();
    this.#sessions.clear();
  }

  async #run(place: 'device' | 'host', stores: readonly ParameterStore[], into: Tensors): Promise<Tensors> {
    let session = this.#sessions.get(place);
    if (!session) {
      const outputs = this.#plan.merged.map((name) => `merged:${name}`);
      session = await this.#host.createSession(this.#plan.model, {
        deviceOutputs: place === 'device' ? outputs : [],
      });
      this.#sessions.set(place, session);
    }
    return session.run(parameterFeeds(this.#plan.parameters, stores), { into });
  }
}
