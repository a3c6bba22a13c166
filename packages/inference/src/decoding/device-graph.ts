import type { ModelConfig } from '@rlp/models';
import { attentionScale, windowOf } from '@rlp/models/decoder';
import { defineOp, Graph, productDimension, type Value } from '@rlp/onnx';
import { attention, embedding, type OperatorSet, splitHeads } from '@rlp/onnx/layers';
import { applyOne, cast, max, min, mul, reshape, sub } from '@rlp/onnx/ops';
import { type GraphWeights, inputStates, turnedHeads } from './blocks.ts';
import { cacheNames } from './fused-graph.ts';
import { addStepOutputs, type StepOutput } from './step-outputs.ts';

/** Sizes of a cache on a device. */
export interface DeviceCacheSizes {
  readonly config: ModelConfig;
  readonly maxSequences: number;
  /** Positions that the model sees. A row has one more, which takes padding. */
  readonly contextLength: number;
  /** Element type of keys, values, weights and hidden states. */
  readonly type: CacheType;
}

/** Element types of a cache on a device. */
type CacheType = 'float32' | 'float16';

/** Shape of a layer's keys or values: one line per row, head and position. */
export function cacheLines({ config, maxSequences, contextLength }: DeviceCacheSizes): [number, number] {
  return [maxSequences * config.keyValueHeads * (contextLength + 1), config.headDimension];
}

/** Options of {@link deviceGraph}. */
export interface DeviceGraphOptions extends DeviceCacheSizes, GraphWeights {
  readonly ops: OperatorSet;
  readonly output: StepOutput;
}

const scatterOp = defineOp({ type: 'ScatterND' });
const sliceOp = defineOp({ type: 'Slice' });

/** Penalty of a position that must not be seen, per position of distance. */
const BLOCKED = 1e30;
/** Roughly the lowest number of float16. */
const LOWEST_HALF = -60_000;

/**
 * A step of any length in consecutive rows of a cache that stays on a device.
 *
 * Inputs, besides the cache as {@link cacheLines} and the parameters:
 *
 * - `tokens` and `positions`, int64 `[batch, time]`
 * - `places`, float32 `[batch, time, 1]`: positions as floats
 * - `key_places`, float32 `[keys]`: 0, 1, 2 …
 * - `slots`, int64 `[batch · keyValueHeads · time, 1]`: lines of the cache for the new keys and values
 * - `start` and `end`, int64 `[2]`: the rows, and positions 0 … keys
 * - `rows`, int64 `[outputs]`: indices among `batch · time` of the tokens whose distributions are wanted
 * - `inverse_temperature`, `[outputs, 1]`
 *
 * Outputs: those of {@link addStepOutputs}, and the cache, in the same memory as the input.
 */
export function deviceGraph(options: DeviceGraphOptions): Graph {
  const graph = new Graph();
  const attendAt = (positions: Value) => cachedAttention(graph, options, positions);
  const { hidden, logits } = inputStates(graph, options, attendAt);
  const last = embedding(hidden, graph.input('rows', 'int64', ['outputs']));
  addStepOutputs({ hidden: last, logits }, options.output);
  return graph;
}

function cachedAttention(graph: Graph, options: DeviceGraphOptions, positions: Value) {
  const { config, ops, type } = options;
  const maskOf = layerMask(graph, config, type);
  const heads = turnedHeads(positions, options, ops, type);
  const valueHeads = { batch: 'batch', time: 'time', heads: config.keyValueHeads };
  const extended = extendedCache(graph, options);
  return (layer: number, query: Value, key: Value, value: Value): Value => {
    const keys = extended(
      cacheNames.key(layer),
      cacheNames.newKey(layer),
      heads(layer, key, config.keyValueHeads),
    );
    const values = extended(
      cacheNames.value(layer),
      cacheNames.newValue(layer),
      splitHeads(value, valueHeads),
    );
    return attention(heads(layer, query, config.heads), keys, values, {
      mask: maskOf(layer),
      ...{ scale: attentionScale(config), ops, output: 'merged' },
    });
  };
}

/** `target` `[m, width]` with rows `indices` `[n, 1]` replaced by `rows` `[n, width]`. */
export function overwritten(target: Value, indices: Value, rows: Value): Value {
  return applyOne(scatterOp, [target, indices, rows], {}, { type: target.type, shape: target.shape });
}

/** Writes new lines into a part of the cache. Returns the keys and values that the rows of this step see. */
function extendedCache(graph: Graph, options: DeviceGraphOptions) {
  const { config, maxSequences, contextLength, type } = options;
  const { keyValueHeads, headDimension } = config;
  const lines = cacheLines(options);
  const slots = graph.input('slots', 'int64', [productDimension(['batch', keyValueHeads, 'time']), 1]);
  const bounds = [graph.input('start', 'int64', [2]), graph.input('end', 'int64', [2])];
  const axes = graph.constant([0, 2], [2], 'int64');
  return (name: string, newName: string, added: Value): Value => {
    const flat = reshape(added, [slots.shape[0]!, headDimension]);
    const cache = graph.input(name, type, lines);
    const written = overwritten(cache, slots, flat);
    graph.output(newName, written);
    const rows = reshape(written, [maxSequences, keyValueHeads, contextLength + 1, headDimension]);
    const shape = ['batch', keyValueHeads, 'keys', headDimension];
    return applyOne(sliceOp, [rows, ...bounds, axes], {}, { type, shape });
  };
}

/** The mask `[batch, 1, time, keys]` of each layer: 0 for keys up to the query and within the layer's sliding window. */
function layerMask(graph: Graph, config: ModelConfig, type: CacheType): (layer: number) => Value {
  const places = graph.input('places', 'float32', ['batch', 'time', 1]);
  const distance = sub(places, graph.input('key_places', 'float32', ['keys']));
  const masked = (nearness: Value) => {
    const added = reshape(mul(min(nearness, 0), BLOCKED), ['batch', 1, 'time', 'keys']);
    return type === 'float32' ? added : cast(max(added, LOWEST_HALF), type);
  };
  const full = masked(distance);
  const windowed = new Map<number, Value>();
  return (layer) => {
    const window = windowOf(config, layer);
    if (window === undefined) return full;
    const known = windowed.get(window) ?? masked(min(distance, sub(window - 1, distance)));
    windowed.set(window, known);
    return known;
  };
}
