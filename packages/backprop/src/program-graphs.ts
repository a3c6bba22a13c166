import { EngineError } from '@rlp/core';
import {
  type EngineHost,
  type EngineSession,
  type ParameterStore,
  Tensor,
  type Tensors,
} from '@rlp/onnx/runtime';

import type { GraphPlan, MicroBatchRequest } from './program-protocol.ts';

/** A graph with its session and the buffers that its runs reuse. */
export interface CompiledGraph {
  readonly plan: GraphPlan;
  readonly session: EngineSession;
  /** Buffers of the outputs whose rows the host adds up, by output. */
  readonly rows: ReadonlyMap<string, Float32Array>;
}

/** Compiled graphs by key. The caller decides what to compile and what to forget. */
export class CompiledGraphs {
  readonly #host: EngineHost;
  readonly #graphs = new Map<string, CompiledGraph>();

  constructor(host: EngineHost) {
    this.#host = host;
  }

  /** Compiles new graphs, after forgetting those named in `release`. */
  async update(compile: readonly GraphPlan[], release: readonly string[]): Promise<void> {
    for (const key of [...release, ...compile.map((plan) => plan.key)]) {
      const graph = this.#graphs.get(key);
      this.#graphs.delete(key);
      await graph?.session.release();
    }
    for (const plan of compile) {
      const session = await this.#host.createSession(plan.model, { deviceOutputs: plan.deviceOutputs });
      const positions = plan.rows * plan.length;
      const rows = plan.scattered.map(
        ({ output, width }) => [output, new Float32Array(positions * width)] as const,
      );
      this.#graphs.set(plan.key, { plan, session, rows: new Map(rows) });
    }
  }

  /** Throws an EngineError for a graph that was not compiled, because its compilation failed. */
  get(key: string): CompiledGraph {
    const graph = this.#graphs.get(key);
    if (!graph) throw new EngineError(`training program: the graph ${key} was not compiled`);
    return graph;
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
