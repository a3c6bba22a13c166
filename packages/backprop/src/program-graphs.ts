import { EngineError } from '@rlp/core';
import {
  type EngineHost,
  type EngineSession,
  type ParameterStore,
  Tensor,
  type Tensors,
} from '@rlp/onnx/runtime';

import type { ComputeRequest, GraphPlan, MicroBatchRequest } from './program-protocol.ts';

/** A graph with its session and the buffers that its runs reuse. */
export interface CompiledGraph {
  readonly plan: GraphPlan;
  readonly session: EngineSession;
  /** Buffers of the outputs whose rows the host adds up, by output. */
  readonly rows: ReadonlyMap<string, Float32Array>;
}

/** Graphs by key, compiled when first needed. The caller decides what to keep. */
export class CompiledGraphs {
  readonly #host: EngineHost;
  readonly #plans = new Map<string, GraphPlan>();
  readonly #graphs = new Map<string, CompiledGraph>();

  constructor(host: EngineHost) {
    this.#host = host;
  }

  /**
   * Runs `work` for every micro-batch with its graph. Graphs named in `release` are forgotten: at once if no micro-batch needs
   * them, else after the last that does, so that their memory is free before the next is compiled.
   */
  async forEach(
    { compile, release, microBatches }: ComputeRequest,
    work: (batch: MicroBatchRequest, graph: CompiledGraph) => Promise<void>,
  ): Promise<void> {
    const lastUse = new Map(microBatches.map(({ graph }, index) => [graph, index]));
    const released = new Set(release);
    for (const plan of compile) await this.#release(plan.key);
    for (const key of release) if (!lastUse.has(key)) await this.#release(key);
    for (const plan of compile) this.#plans.set(plan.key, plan);
    try {
      for (const [index, batch] of microBatches.entries()) {
        await work(batch, await this.#compiled(batch.graph));
        if (released.has(batch.graph) && lastUse.get(batch.graph) === index) await this.#release(batch.graph);
      }
    } finally {
      for (const key of release) await this.#release(key);
    }
  }

  /** Throws an EngineError for a graph that was never sent, because the request that carried it failed. */
  async #compiled(key: string): Promise<CompiledGraph> {
    const known = this.#graphs.get(key);
    if (known) return known;
    const plan = this.#plans.get(key);
    if (!plan) throw new EngineError(`training program: the graph ${key} was not sent`);
    const session = await this.#host.createSession(plan.model, { deviceOutputs: plan.deviceOutputs });
    const positions = plan.rows * plan.length;
    const rows = plan.scattered.map(
      ({ output, width }) => [output, new Float32Array(positions * width)] as const,
    );
    const graph = { plan, session, rows: new Map(rows) };
    this.#graphs.set(key, graph);
    return graph;
  }

  async #release(key: string): Promise<void> {
    const graph = this.#graphs.get(key);
    this.#graphs.delete(key);
    this.#plans.delete(key);
    await graph?.session.release();
  }

  async close(): Promise<void> {
    const graphs = [...this.#graphs.values()];
    this.#graphs.clear();
    await Promise.all(graphs.map(({ session }) => session.release()));
  }
}

/** Feeds of one run: parameters straight from their stores, and the micro-batch's arrays. */
export function feedsOf(
  { plan, session }: CompiledGraph,
  batch: MicroBatchRequest,
  stores: readonly ParameterStore[],
): Tensors {
  const feeds = parameterFeeds(plan.parameters, stores);
  const shape = [plan.rows, plan.length];
  feeds.tokens = new Tensor('int64', BigInt64Array.from(batch.tokens, BigInt), shape);
  feeds.targets = new Tensor('int64', BigInt64Array.from(batch.targets, BigInt), shape);
  feeds.mask = new Tensor('float32', batch.mask, shape);
  feeds.weights = new Tensor('float32', batch.weights, shape);
  for (const [column, input] of Object.entries(plan.columns)) {
    feeds[input] = new Tensor('float32', batch.columns[column]!, shape);
  }
  const wanted = new Set(session.inputNames);
  return Object.fromEntries(Object.entries(feeds).filter(([name]) => wanted.has(name)));
}

/** Parameters as feeds, each from the first store that has it. */
export function parameterFeeds(
  parameters: readonly string[],
  stores: readonly ParameterStore[],
): Record<string, Tensor> {
  const homes = new Map(
    stores.toReversed().flatMap((store) => store.parameters.map(({ name }) => [name, store] as const)),
  );
  return Object.fromEntries(
    parameters.map((name) => {
      const store = homes.get(name);
      if (!store) throw new EngineError(`training program: no store holds the parameter "${name}"`);
      return [name, store.tensor(name)];
    }),
  );
}
