import { Graph, serialize } from '@rlp/onnx';
import { embedding } from '@rlp/onnx/layers';
import { cast, expand } from '@rlp/onnx/ops';
import { type EngineHost, type EngineSession, Tensor, type Tensors } from '@rlp/onnx/runtime';
import { cacheLines, type DeviceCacheSizes, overwritten } from './device-graph.ts';
import { cacheNames } from './fused-graph.ts';

/** Keys and values of a number of rows in the memory of a device. */
export class DeviceCache {
  readonly #host: EngineHost;
  readonly #sizes: DeviceCacheSizes;
  readonly #tensors: ReadonlyMap<string, Tensor>;
  readonly #lines: Tensors;
  readonly #first = new Map<number, Tensors>();
  /** Rows that the next {@link settle} overwrites, each with the row that it copies. */
  readonly #copies = new Map<number, number>();
  #mover: EngineSession | undefined;

  private constructor(host: EngineHost, sizes: DeviceCacheSizes, tensors: ReadonlyMap<string, Tensor>) {
    this.#host = host;
    this.#sizes = sizes;
    this.#tensors = tensors;
    this.#lines = Object.fromEntries(tensors);
  }

  /** Allocates an empty cache. */
  static async create(host: EngineHost, sizes: DeviceCacheSizes): Promise<DeviceCache> {
    const lines = cacheLines(sizes);
    const graph = new Graph();
    graph.output('zeros', expand(cast(graph.input('zero', 'float32', [1, 1]), sizes.type), lines));
    const zeros = await host.createSession(serialize(graph), { deviceOutputs: ['zeros'] });
    const zero = new Tensor('float32', new Float32Array(1), [1, 1]);
    const tensors = new Map<string, Tensor>();
    try {
      for (const name of names(sizes)) tensors.set(name, (await zeros.run({ zero })).zeros!);
    } catch (error) {
      for (const tensor of tensors.values()) tensor.dispose();
      throw error;
    } finally {
      await zeros.release();
    }
    return new DeviceCache(host, sizes, tensors);
  }

  /** Keys and values of all layers, as `cacheLines`. */
  get tensors(): Tensors {
    return this.#lines;
  }

  /** Keys and values of the first rows: `[count, keyValueHeads, positions, headDimension]`. */
  firstRows(count: number): Tensors {
    const known = this.#first.get(count);
    if (known) return known;
    const { config, contextLength } = this.#sizes;
    const made = this.#views([count, config.keyValueHeads, contextLength + 1, config.headDimension]);
    this.#first.set(count, made);
    return made;
  }

  /** Requests a copy of a row over another one. {@link settle} makes it before the next step. */
  copyRow(from: number, to: number): void {
    const source = this.#copies.get(from) ?? from;
    if (source === to) this.#copies.delete(to);
    else this.#copies.set(to, source);
  }

  /** Makes the requested copies. */
  async settle(): Promise<void> {
    if (this.#copies.size === 0) return;
    const to = BigInt64Array.from(this.#copies.keys(), BigInt);
    const from = BigInt64Array.from(this.#copies.values(), BigInt);
    this.#copies.clear();
    this.#mover ??= await this.#host.createSession(moveGraph(this.#sizes));
    const { maxSequences } = this.#sizes;
    const [lines, width] = cacheLines(this.#sizes);
    const rows = this.#views([maxSequences, (lines / maxSequences) * width]);
    const feeds = {
      ...rows,
      from: new Tensor('int64', from, [from.length]),
      to: new Tensor('int64', to, [to.length, 1]),
    };
    await this.#mover.run(feeds, { into: inPlace(rows), fetch: [] });
  }

  /** The same memory in another shape. */
  #views(dims: readonly number[]): Tensors {
    const view = ({ gpuBuffer }: Tensor) =>
      Tensor.fromGpuBuffer(gpuBuffer, { dataType: this.#sizes.type, dims });
    return Object.fromEntries([...this.#tensors].map(([name, tensor]) => [name, view(tensor)]));
  }

  async close(): Promise<void> {
    await this.#mover?.release();
    for (const tensor of this.#tensors.values()) tensor.dispose();
  }
}

/** Outputs that replace tensors of the cache, each in the memory of the tensor that it replaces. */
export function inPlace(tensors: Tensors): Tensors {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [`new_${name}`, tensor]));
}

function names({ config }: DeviceCacheSizes): readonly string[] {
  const layers = Array.from({ length: config.layers }, (_, layer) => layer);
  return layers.flatMap((layer) => [cacheNames.key(layer), cacheNames.value(layer)]);
}

/** Copies rows `from` over rows `to`, all at once. */
function moveGraph(sizes: DeviceCacheSizes): Uint8Array {
  const graph = new Graph();
  const from = graph.input('from', 'int64', ['moved']);
  const to = graph.input('to', 'int64', ['moved', 1]);
  const [lines, width] = cacheLines(sizes);
  const shape = [sizes.maxSequences, (lines / sizes.maxSequences) * width];
  for (const name of names(sizes)) {
    const cache = graph.input(name, sizes.type, shape);
    const rows = embedding(cache, from);
    graph.output(`new_${name}`, overwritten(cache, to, rows));
  }
  return serialize(graph);
}
