import { ArgumentError } from '@rlp/core';

import { customGradient } from '../autodiff/custom-gradient.ts';
import type { DataType } from '../graph/data-type.ts';
import type { Graph, Value } from '../graph/graph.ts';
import {
  type Dimension,
  formatShape,
  productDimension,
  type Shape,
  staticDimension,
} from '../graph/shape.ts';
import { add, mul, neg, sub } from '../ops/arithmetic.ts';
import { and, greater, less, where } from '../ops/comparison.ts';
import { range } from '../ops/indexing.ts';
import { concat, transpose } from '../ops/layout.ts';
import { fusedMatmul, standardMatmul } from '../ops/matrix.ts';
import { dimensionSize, expand, reshape, sum } from '../ops/shape.ts';
import { softmax } from '../ops/softmax.ts';
import type { OperatorSet } from './variant.ts';

/** Options of {@link causalMask}. */
export interface CausalMaskOptions {
  readonly queries: Dimension;
  /** Default: as many as queries. Queries are the last of the keys. */
  readonly keys?: Dimension;
  /** Keys a query sees, itself included (sliding-window attention). Default: all before it. */
  readonly window?: number | undefined;
  /** Default float32. */
  readonly type?: DataType;
}

/**
 * `[queries, keys]` to add to attention scores: 0 where a query may look, else very negative. A constant where both sizes are
 * numbers; else made at run time, so make it once and give it to every layer.
 */
export function causalMask(graph: Graph, options: CausalMaskOptions): Value {
  const { queries, keys = queries, window, type = 'float32' } = options;
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

/** Options of {@link attention}. */
export interface AttentionOptions {
  /** Added to the scores: `[time, keys]`, or `[batch, 1, time, keys]`. Default: {@link causalMask}. */
  readonly mask?: Value | undefined;
  /** Factor of the scores. Default `1 / √headSize`. */
  readonly scale?: number | undefined;
  /** Default `'fused'`. */
  readonly ops?: OperatorSet;
  /**
   * `'merged'` returns `[batch · time, heads · headSize]`, as {@link mergeHeads} does, and keeps only that for the backward pass.
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
 * Scaled dot-product attention, `softmax(scale · q kᵀ + mask) v`. With fewer key heads than heads (grouped queries), each
 * key head serves the consecutive heads of its group without being repeated.
 *
 * Gradient, with P the probabilities and g = ∂y:
 *
 *     ∂v = Pᵀ g,   dS = P ⊙ (g vᵀ − Σ g ⊙ y),   ∂q = scale · dS k,   ∂k = scale · dSᵀ q
 *
 * @param query - `[batch, heads, time, headSize]`
 * @param key - `[batch, keyHeads, keys, headSize]`
 * @param value - as `key`
 * @returns `[batch, heads, time, headSize]`, unless the option `output` says otherwise
 */
export function attention(query: Value, key: Value, value: Value, options: AttentionOptions = {}): Value {
  const sizes = sizesOf(query, key, value);
  const scale = options.scale ?? 1 / Math.sqrt(sizes.headSize);
  const multiply = options.ops === 'standard' ? standardMatmul : fusedMatmul;
  const mask =
    options.mask ?? causalMask(query.graph, { queries: sizes.time, keys: sizes.keys, type: query.type });
  const grouped = reshape(query, [
    sizes.batch,
    sizes.groups,
    productDimension([sizes.perGroup, sizes.time]),
    sizes.headSize,
  ]);
  const layout = outputLayout(sizes, grouped.shape, options.output ?? 'heads');
  let probabilities: Value;
  const [y] = customGradient(
    [grouped, key, value],
    () => {
      const scores = multiply(grouped, key, { transposeB: 'yes', alpha: scale });
      probabilities = softmax(addMask(scores, mask, sizes));
      return [layout.wrap(multiply(probabilities, value))];
    },
    ([wrapped], [needsQuery, needsKey, needsValue]) => {
      const upstream = layout.unwrap(wrapped!);
      const dot = layout.rowSums(mul(wrapped!, y));
      const scores = mul(probabilities, centeredProduct(upstream, value, dot, multiply));
      return [
        needsQuery ? multiply(scores, key, { alpha: scale }) : undefined,
        needsKey ? multiply(scores, grouped, { transposeA: 'yes', alpha: scale }) : undefined,
        needsValue ? multiply(probabilities, upstream, { transposeA: 'yes' }) : undefined,
      ];
    },
  );
  return y;
}

/** Between `[batch, groups, perGroup · time, headSize]`, in which attention computes, and the shape it returns. */
interface OutputLayout {
  readonly wrap: (grouped: Value) => Value;
  readonly unwrap: (wrapped: Value) => Value;
  /** Σ over the head of what has the returned shape, `[batch, groups, perGroup · time, 1]`. */
  readonly rowSums: (wrapped: Value) => Value;
}

function outputLayout(sizes: Sizes, grouped: Shape, output: 'heads' | 'merged'): OutputLayout {
  const { batch, heads, time, headSize } = sizes;
  const rows = [...grouped.slice(0, -1), 1];
  if (output === 'heads') {
    return {
      wrap: (y) => reshape(y, [batch, heads, time, headSize]),
      unwrap: (g) => reshape(g, grouped),
      rowSums: (x) => reshape(sum(x, { axes: -1, keepAxes: 'yes' }), rows),
    };
  }
  const split = (x: Value) => reshape(x, [batch, time, heads, headSize]);
  return {
    wrap: (y) => mergeHeads(reshape(y, [batch, heads, time, headSize])),
    unwrap: (g) => reshape(splitHeads(g, { batch, time, heads }), grouped),
    rowSums: (x) => reshape(transpose(sum(split(x), { axes: -1 }), [0, 2, 1]), rows),
  };
}

/**
 * `g vᵀ − dot`, with the subtraction as one more column of the product: a pass less over an array of the scores' size.
 *
 * @param dot - `[…, rows, 1]`
 */
function centeredProduct(g: Value, value: Value, dot: Value, multiply: typeof fusedMatmul): Value {
  const column = value.graph.constant(1, [1, 1, 1, 1], value.type);
  const ones = expand(column, [...value.shape.slice(0, -1), 1]);
  return multiply(concat([g, neg(dot)], -1), concat([value, ones], -1), { transposeB: 'yes' });
}

function addMask(scores: Value, mask: Value, sizes: Sizes): Value {
  const { batch, groups, perGroup, time, keys } = sizes;
  const perBatch = mask.shape.length === 4 ? reshape(mask, [mask.shape[0]!, 1, 1, time, keys]) : mask;
  if (perGroup === 1 && mask.shape.length === 2) return add(scores, mask);
  return reshape(add(reshape(scores, [batch, groups, perGroup, time, keys]), perBatch), scores.shape);
}

/** Where the tokens of {@link splitHeads} lie. */
export interface HeadLayout {
  readonly batch: Dimension;
  readonly time: Dimension;
  readonly heads: number;
}

/** `[batch · time, heads · headSize]` (or `[batch, time, heads · headSize]`) as `[batch, heads, time, headSize]`. */
export function splitHeads(x: Value, { batch, time, heads }: HeadLayout): Value {
  const width = staticDimension('splitHeads', x.shape, x.shape.at(-1));
  return transpose(reshape(x, [batch, time, heads, width / heads]), [0, 2, 1, 3]);
}

/** `[batch, heads, time, headSize]` as `[batch · time, heads · headSize]`. */
export function mergeHeads(x: Value): Value {
  const [batch, heads, time, size] = x.shape;
  const width = productDimension([heads!, size!]);
  return reshape(transpose(x, [0, 2, 1, 3]), [productDimension([batch!, time!]), width]);
}
