import { ArgumentError, requireFields } from '@rlp/core';
import type { DataType } from '../graph/data-type.ts';
import { expectGraph, expectValues, widthOf } from '../graph/expect-values.ts';
import type { Graph, Value } from '../graph/graph.ts';
import { type Dimension, formatShape, productDimension, staticDimension } from '../graph/shape.ts';
import { add, sub } from '../ops/arithmetic.ts';
import { and, greater, less, where } from '../ops/comparison.ts';
import { range } from '../ops/indexing.ts';
import { transpose } from '../ops/layout.ts';
import { dimensionSize, reshape } from '../ops/shape.ts';
import { normalSoftmax } from './normal-softmax.ts';
import { matmulOf, type OperatorSet } from './variant.ts';

/** Options of {@link causalMask}. */
export interface CausalMaskOptions {
  /** Number of queries. Required. */
  readonly queries: Dimension;
  /** Number of keys. The queries are the last of them. Default: as many as queries. */
  readonly keys?: Dimension;
  /** Sliding window: keys that a query sees, itself included. Default: all earlier keys. */
  readonly window?: number | undefined;
  /** Element type of the mask. Default `'float32'`. */
  readonly type?: DataType;
}

/**
 * Additive mask `[queries, keys]`: 0 if the query may see the key, otherwise very negative.
 *
 * A constant if both sizes are numbers. Otherwise it is computed at run time, so create it once and share it
 * among layers.
 */
export function causalMask(graph: Graph, options: CausalMaskOptions): Value {
  expectGraph('causalMask', graph);
  const {
    queries,
    keys = queries,
    window,
    type = 'float32',
  } = requireFields('causalMask: options', {}, options);
  const blocked = type === 'float16' ? -65504 : -1e30;
  if (typeof queries === 'string' || typeof keys === 'string') {
    const visible = visibleKeys(graph, queries, keys, window);
    return where(visible, graph.constant(0, [], type), graph.constant(blocked, [], type));
  }
  const mask = new Array<number>(queries * keys).fill(blocked);
  for (let query = 0; query < queries; query++) {
    const last = keys - queries + query;
    for (let key = Math.max(0, last - (window ?? keys) + 1); key <= last; key++) mask[query * keys + key] = 0;
  }
  return graph.constant(mask, [queries, keys], type);
}

/** Whether each query sees each key, `[queries, keys]`. */
function visibleKeys(graph: Graph, queries: Dimension, keys: Dimension, window: number | undefined): Value {
  const key = reshape(range(graph, keys), [1, keys]);
  const index = reshape(range(graph, queries), [queries, 1]);
  const surplus = () => sub(dimensionSize(graph, keys), dimensionSize(graph, queries));
  const last = queries === keys ? index : add(index, surplus());
  const past = less(key, add(last, 1));
  return window === undefined ? past : and(past, greater(key, sub(last, window)));
}

/**
 * Additive mask of a sliding window: 0 if the key is among the last `window` positions up to the query, otherwise very
 * negative. Keys after the query are not hidden; add a causal mask for them.
 *
 * @param queries - Positions of the queries, int64 `[…, time, 1]`.
 * @param keys - Positions of the keys, int64 `[…, 1, keys]`.
 * @param window - Keys that a query sees, itself included.
 */
export function windowMask(queries: Value, keys: Value, window: number): Value {
  expectValues('windowMask', { queries, keys });
  const { graph } = queries;
  const visible = greater(keys, sub(queries, window));
  return where(visible, graph.constant(0, []), graph.constant(-1e30, []));
}

/** Options of {@link attention}. */
export interface AttentionOptions {
  /** Added to the scores: `[time, keys]` or `[batch, 1, time, keys]`. Default: {@link causalMask}. */
  readonly mask?: Value | undefined;
  /** Factor of the scores. Default `1 / √headSize`. */
  readonly scale?: number | undefined;
  /** Operators to build from. Default `'fused'`. */
  readonly ops?: OperatorSet;
  /**
   * Layout of the result: `'heads'`, or `'merged'` for `[batch · time, heads · headSize]`, as {@link mergeHeads} gives it.
   * Default `'heads'`.
   */
  readonly output?: 'heads' | 'merged';
}

interface Sizes {
  readonly batch: Dimension;
  readonly heads: number;
  readonly groups: number;
  readonly perGroup: number;
  readonly time: Dimension;
  readonly keys: Dimension;
  readonly headSize: number;
}

function sizesOf(query: Value, key: Value, value: Value): Sizes {
  const shapes = [query, key, value].map(({ shape }) => formatShape(shape)).join(', ');
  const [batch, heads, time, headSize] = query.shape;
  const [keyBatch, groups, keys, keySize] = key.shape;
  const fits =
    query.shape.length === 4 &&
    batch === keyBatch &&
    headSize === keySize &&
    formatShape(key.shape.slice(0, 3)) === formatShape(value.shape.slice(0, 3)) &&
    value.shape[3] === headSize &&
    Number.isInteger(Number(heads) / Number(groups));
  if (!fits) {
    throw new ArgumentError(
      `attention: query must be [batch, heads, time, headSize], key and value [batch, keyHeads, keys, headSize] with ` +
        `keyHeads dividing heads; got ${shapes}`,
    );
  }
  const count = staticDimension('attention', query.shape, heads);
  const width = staticDimension('attention', query.shape, headSize);
  const perGroup = count / Number(groups);
  const dimensions = { batch: batch!, time: time!, keys: keys! };
  return { ...dimensions, heads: count, groups: Number(groups), perGroup, headSize: width };
}

/**
 * Scaled dot-product attention, `softmax(scale · q kᵀ + mask) v`. {@link packedAttention} is faster for training.
 *
 * Grouped queries: if there are fewer key heads than heads, each key head serves a group of consecutive
 * heads. Keys and values are not repeated.
 *
 * @param query - `[batch, heads, time, headSize]`
 * @param key - `[batch, keyHeads, keys, headSize]`
 * @param value - Same shape as `key`.
 * @returns `[batch, heads, time, headSize]`, or the shape that the option `output` selects.
 */
export function attention(query: Value, key: Value, value: Value, options: AttentionOptions = {}): Value {
  requireFields('attention: options', {}, options);
  expectValues('attention', { query, key, value });
  const sizes = sizesOf(query, key, value);
  const { batch, heads, groups, perGroup, time, keys, headSize } = sizes;
  const scale = options.scale ?? 1 / Math.sqrt(headSize);
  const multiply = matmulOf(options.ops);
  const mask = options.mask ?? causalMask(query.graph, { queries: time, keys, type: query.type });
  const grouped = reshape(query, [batch, groups, productDimension([perGroup, time]), headSize]);
  const scores = multiply(grouped, key, { transposeB: 'yes', alpha: scale });
  const probabilities = normalSoftmax(addMask(scores, mask, sizes), options.ops);
  const y = reshape(multiply(probabilities, value), [batch, heads, time, headSize]);
  return options.output === 'merged' ? mergeHeads(y) : y;
}

function addMask(scores: Value, mask: Value, sizes: Sizes): Value {
  const { batch, groups, perGroup, time, keys } = sizes;
  const perBatch = mask.shape.length === 4 ? reshape(mask, [mask.shape[0]!, 1, 1, time, keys]) : mask;
  if (perGroup === 1 && mask.shape.length === 2) return add(scores, mask);
  return reshape(add(reshape(scores, [batch, groups, perGroup, time, keys]), perBatch), scores.shape);
}

/** Sizes that {@link splitHeads} needs. */
export interface HeadLayout {
  readonly batch: Dimension;
  readonly time: Dimension;
  readonly heads: number;
}

/**
 * Reshapes `[batch · time, heads · headSize]` or `[batch, time, heads · headSize]` to `[batch, heads, time,
 * headSize]`.
 */
export function splitHeads(x: Value, layout: HeadLayout): Value {
  const { batch, time, heads } = requireFields('splitHeads: layout', {}, layout);
  const width = widthOf('splitHeads', x);
  return transpose(reshape(x, [batch, time, heads, width / heads]), [0, 2, 1, 3]);
}

/** Reshapes `[batch, heads, time, headSize]` to `[batch · time, heads · headSize]`. */
export function mergeHeads(x: Value): Value {
  expectValues('mergeHeads', { x });
  const [batch, heads, time, size] = x.shape;
  const width = productDimension([heads!, size!]);
  return reshape(transpose(x, [0, 2, 1, 3]), [productDimension([batch!, time!]), width]);
}
