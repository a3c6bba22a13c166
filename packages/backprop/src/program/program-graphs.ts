import { EngineError } from '@rlp/core';
import { bytesPerBlock } from '@rlp/models/decoder';
import {
  type EngineHost,
  type EngineSession,
  type ParameterStore,
  packedBytes,
  Tensor,
  type Tensors,
} from '@rlp/onnx/runtime';

import { blockSlots, type LossGrid, type MicroBatch } from '../batch/fill.ts';
import type { PolicyGraphs } from '../graphs/policy-graphs.ts';
import type {
  GradientSums,
  GraphPlan,
  GraphRequest,
  GraphSource,
  ParameterBlock,
} from '../program-protocol.ts';

/** A graph with its session. */
export interface CompiledGraph {
  readonly plan: Omit<GraphPlan, 'model'>;
  readonly session: EngineSession;
}

/** Graphs by key. The caller decides which to keep. */
export class CompiledGraphs {
  readonly #host: EngineHost;
  readonly #builder: PolicyGraphs;
  readonly #sources = new Map<string, GraphSource>();
  readonly #graphs = new Map<string, CompiledGraph>();

  constructor(host: EngineHost, builder: PolicyGraphs) {
    this.#host = host;
    this.#builder = builder;
  }

  /**
   * Returns the graph of a request. Builds and compiles it if the request describes it.
   *
   * @param sums - What a training graph must do. One whose gradients are added serves from then on where those alone would do, so that
   * no two are in memory.
   * @throws EngineError for an unknown graph, because the request that carried it failed.
   */
  async open(
    { graph: key, compile, release }: GraphRequest,
    sums: GradientSums = 'alone',
  ): Promise<CompiledGraph> {
    for (const old of compile ? [...release, key] : release) await this.#release(old);
    if (compile) this.#sources.set(key, compile);
    const source = this.#sources.get(key);
    if (!source) throw new EngineError(`training program: expected the graph ${key} to be sent first`);
    const known = this.#graphs.get(key);
    if (known && (sums === 'alone' || known.plan.sums === sums)) return known;
    await known?.session.release();
    this.#graphs.delete(key);
    const { model, ...plan } = this.#build(key, source, sums);
    const graph = { plan, session: await this.#host.createSession(model) };
    this.#graphs.set(key, graph);
    return graph;
  }

  async close(): Promise<void> {
    for (const key of [...this.#sources.keys()]) await this.#release(key);
  }

  #build(key: string, source: GraphSource, sums: GradientSums): GraphPlan {
    const { attention } = source;
    if (source.kind === 'training') return this.#builder.training(key, source.loss, attention, sums);
    return source.kind === 'scoring'
      ? this.#builder.scoring(key, attention)
      : this.#builder.values(key, attention);
  }

  async #release(key: string): Promise<void> {
    const graph = this.#graphs.get(key);
    this.#sources.delete(key);
    this.#graphs.delete(key);
    await graph?.session.release();
  }
}

/** Numbers that a run reads. */
interface RunScalars {
  readonly temperature: number;
  /** Factor of gradients. Default 1. */
  readonly lossScale?: number;
}

/** Feeds of one run: parameters from their stores and arrays of the micro-batch. */
export function feedsOf(
  { plan, session }: CompiledGraph,
  batch: MicroBatch,
  { temperature, lossScale = 1 }: RunScalars,
  stores: readonly ParameterStore[],
): Tensors {
  const feeds = parameterFeeds(plan.parameters, stores);
  for (const block of plan.blocks) {
    const home = stores.find((store) => store.parameters.some(({ name }) => name === block.parameter))!;
    feeds[block.input] = blockTensor(home, block);
  }
  const wanted = new Set(session.inputNames);
  const { tokens, positions, places, scored, targets, scorePlaces, slots, ends, rows, length } = batch;
  for (const [name, data] of Object.entries({ tokens, positions, places, scored, targets, scorePlaces })) {
    if (wanted.has(name)) feeds[name] = integers(data, [data.length]);
  }
  for (const [name, data] of Object.entries({ slots, ends })) {
    if (wanted.has(name)) feeds[name] = integers(data, [rows, length]);
  }
  if (wanted.has('stem')) feeds.stem = integers(positions.subarray(0, batch.stem), [batch.stem!]);
  if (wanted.has('blockSlots')) {
    const blocks = blockSlots(batch);
    feeds.blockSlots = integers(blocks.slots, blocks.shape);
    feeds.blockPlaces = integers(blocks.places, [blocks.places.length]);
  }
  feeds.temperature = new Tensor('float32', Float32Array.of(temperature), []);
  feeds.lossScale = new Tensor('float32', Float32Array.of(lossScale), []);
  if (batch.loss) addLossFeeds(feeds, batch.loss, plan.columns);
  return Object.fromEntries(Object.entries(feeds).filter(([name]) => wanted.has(name)));
}

function addLossFeeds(
  feeds: Record<string, Tensor>,
  { rows, length, cells, places, mask, weights, columns }: LossGrid,
  inputs: Readonly<Record<string, string>>,
): void {
  const shape = [rows, length];
  feeds.cells = integers(cells, shape);
  feeds.cellPlaces = integers(places, [places.length]);
  feeds.mask = new Tensor('float32', mask, shape);
  feeds.weights = new Tensor('float32', weights, shape);
  for (const [column, input] of Object.entries(inputs)) {
    feeds[input] = new Tensor('float32', columns[column]!, shape);
  }
}

/** Numbers of at least 0 as int64, whose lower half they are. */
function integers(data: Int32Array, shape: readonly number[]): Tensor {
  const wide = new BigInt64Array(data.length);
  const halves = new Int32Array(wide.buffer);
  for (let i = 0; i < data.length; i++) halves[2 * i] = data[i]!;
  return new Tensor('int64', wide, shape);
}

/** Block of a parameter's rows in a store on the host, or of its part of a slot. */
export function blockTensor(
  store: ParameterStore,
  { parameter, firstRow, shape: [rows, width] }: ParameterBlock,
  slot?: string,
): Tensor {
  const data = store.data(parameter, slot).subarray(firstRow * width, (firstRow + rows) * width);
  return new Tensor('float32', data, [rows, width]);
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
      if (!store)
        throw new EngineError(`training program: expected a store with the parameter "${name}", none has it`);
      const width = bytesPerBlock(name);
      return [name, width === undefined ? store.tensor(name) : packedBytes(store, name, width)];
    }),
  );
}
