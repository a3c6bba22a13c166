import { requireArguments, requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { expectGraph, expectValues, widthOf } from '../graph/expect-values.ts';
import type { Graph, Value } from '../graph/graph.ts';
import { type Dimension, productDimension } from '../graph/shape.ts';
import { add, div, mul, sub } from '../ops/arithmetic.ts';
import { and, greater, less, where } from '../ops/comparison.ts';
import { gather, range } from '../ops/indexing.ts';
import { dimensionSize, reshape, sum } from '../ops/shape.ts';
import { type AttendedKeys, attendKeys, grouped } from './attend-keys.ts';
import type { OperatorSet } from './variant.ts';

/**
 * Where tokens lie in a rectangle `[rows, length]` that attention is computed on.
 *
 * Everything but attention is computed on the tokens alone, `[tokens, …]`, without padding. A row of the rectangle holds
 * one or several trees of tokens in depth-first order: a sequence is a tree without branches, and sequences that begin
 * alike share their first tokens.
 */
export interface TokenLayout {
  /** Token in each slot, int64 `[rows, length]`. Empty slots name any token. */
  readonly slots: Value;
  /** End of the subtree of each slot's token within its row, int64 `[rows, length]`. An empty slot sees itself only. */
  readonly ends: Value;
  /** Slot of each token, int64 `[tokens]`. */
  readonly places: Value;
  /** Number of tokens before each token in its sequence, int64 `[tokens]`. */
  readonly positions: Value;
  /** Queries in blocks of columns, for {@link blockedAttention}. Default: all columns at once. */
  readonly blocks?: QueryBlocks | undefined;
  /** Parts of columns that queries are computed in, for {@link splitAttention}. Default: all columns at once. */
  readonly parts?: number | undefined;
  /**
   * Tokens of a stem, which are `0 … stem − 1`, int64 `[stem]`, for `branchedAttention`. Then `slots`, `ends`, and `places` are of the tokens
   * behind it, counted from its end, with a row for each branch. Default: none.
   */
  readonly stem?: Value | undefined;
}

/** Slots of a layout, cut into blocks of columns. */
export interface QueryBlocks {
  /** Token in each slot, int64 `[blocks, rows, columns]`. */
  readonly slots: Value;
  /** Slot of each token among these, int64 `[tokens]`. */
  readonly places: Value;
}

/** {@link TokenLayout} of `rows` sequences of `length` tokens each. */
export function fullLayout(graph: Graph, rows: number, length: number): TokenLayout {
  expectGraph('fullLayout', graph);
  requireArguments('fullLayout', { rows: 'number', length: 'number' }, rows, length);
  const numbers = (size: number, of: (index: number) => number) =>
    Array.from({ length: size }, (_, i) => of(i));
  const count = rows * length;
  const grid = (of: (index: number) => number) => graph.constant(numbers(count, of), [rows, length], 'int64');
  const list = (of: (index: number) => number) => graph.constant(numbers(count, of), [count], 'int64');
  return {
    slots: grid((index) => index),
    ends: grid(() => length),
    places: list((index) => index),
    positions: list((index) => index % length),
  };
}

/** Some columns of a layout, and those up to the last of them. */
export interface Columns {
  /** Name of their number. */
  readonly own: Dimension;
  /** Name of the number of columns up to the last one. */
  readonly seen: Dimension;
  /** Takes the own columns of an axis. */
  readonly ofOwn: (x: Value, axis: number) => Value;
  /** Takes the columns up to the last one of an axis. */
  readonly ofSeen: (x: Value, axis: number) => Value;
}

/** All columns of a layout. */
export function allColumns({ slots }: Pick<TokenLayout, 'slots'>): Columns {
  const length = slots.shape[1]!;
  const all = (x: Value) => x;
  return { own: length, seen: length, ofOwn: all, ofSeen: all };
}

/**
 * Additive mask `[rows, 1, 1, columns, seen]` of a layout: 0 where a token sees another, otherwise very negative.
 *
 * A token sees itself and the tokens before it in its sequence, the last `window` of them if there is a window.
 *
 * @param columns - Columns of the queries. Default: all.
 */
export function layoutMask(layout: TokenLayout, window?: number | undefined, columns?: Columns): Value {
  const { slots, ends } = requireFields('layoutMask: layout', {}, layout);
  expectValues('layoutMask', { slots, ends });
  const { own, seen, ofOwn, ofSeen } = columns ?? allColumns(layout);
  const { graph } = slots;
  const [rows, length] = slots.shape as [Dimension, Dimension];
  const index = range(graph, length);
  const query = reshape(ofOwn(index, 0), [own, 1]);
  const past = less(reshape(ofSeen(index, 0), [1, seen]), add(query, 1));
  const ofTree = less(query, reshape(ofSeen(ends, 1), [rows, 1, seen]));
  const visible = and(ofTree, past);
  const near = () => {
    const positions = reshape(gather(layout.positions, reshape(slots, [-1])), [rows, length]);
    const first = sub(reshape(ofOwn(positions, 1), [rows, own, 1]), window!);
    return greater(reshape(ofSeen(positions, 1), [rows, 1, seen]), first);
  };
  const shown = window === undefined ? visible : and(visible, near());
  const mask = where(shown, graph.constant(0), graph.constant(-1e30));
  return reshape(mask, [rows, 1, 1, own, seen]);
}

/** Moves heads between tokens and the rectangle. Both ways copy every head once. */
export interface HeadMover {
  readonly heads: number;
  /** `[tokens, heads · size]` to `[rows, heads, length, size]`. */
  readonly toRows: (x: Value) => Value;
  /** `[rows, heads, length, size]` to `[tokens, heads · size]`. Empty slots are left out. */
  readonly toTokens: (x: Value) => Value;
}

/** Creates the indices by which heads of a layout are moved. Share them among layers. */
export function headMover(layout: Pick<TokenLayout, 'slots' | 'places'>, heads: number): HeadMover {
  const { slots, places } = requireFields('headMover: layout', {}, layout);
  expectValues('headMover', { slots, places });
  const { graph } = slots;
  const [rows, length] = slots.shape as [Dimension, Dimension];
  const [tokens] = places.shape as [Dimension];
  const head = range(graph, heads);
  const ofTokens = add(mul(reshape(slots, [rows, 1, length]), heads), reshape(head, [1, heads, 1]));
  // Column c of row r is slot r · length + c, and element (r · heads + h) · length + c of a head h.
  const size = dimensionSize(graph, length);
  const start = mul(div(places, size), size);
  const ofFirst = reshape(add(places, mul(start, heads - 1)), [tokens, 1]);
  const ofRows = add(ofFirst, reshape(mul(head, size), [1, heads]));
  const width = (x: Value) => widthOf('headMover', x);
  return {
    heads,
    toRows: (x) => gather(reshape(x, [productDimension([tokens, heads]), width(x) / heads]), ofTokens),
    toTokens: (x) => {
      const flat = reshape(x, [productDimension([rows, heads, length]), width(x)]);
      return reshape(gather(flat, ofRows), [tokens, heads * width(x)]);
    },
  };
}

/** Options of {@link packedAttention}. */
export interface PackedAttentionOptions {
  /** Mover of the queries' heads. Required. */
  readonly queries: HeadMover;
  /** Mover of the keys' and values' heads, whose number divides that of the queries. Required. */
  readonly keys: HeadMover;
  /** Added to the scores, from {@link layoutMask}. Required. */
  readonly mask: Value;
  /** Factor of the scores. Default `1 / √headSize`. */
  readonly scale?: number | undefined;
  /** Operators to build from. Default `'fused'`. */
  readonly ops?: OperatorSet;
}

/**
 * Scaled dot-product attention of packed tokens, `softmax(scale · q kᵀ + mask) v`.
 *
 * Grouped queries: if there are fewer key heads than heads, each key head serves a group of consecutive heads. Keys and
 * values are not repeated.
 *
 * Gradient, with P the probabilities and g = ∂y:
 *
 *     ∂v = Pᵀ g,   dS = P ⊙ (g vᵀ − Σ g ⊙ y),   ∂q = scale · dS k,   ∂k = scale · dSᵀ q
 *
 * Empty slots get copies of some token and reach no result: other slots do not see them, and {@link HeadMover.toTokens}
 * leaves them out, also of gradients.
 *
 * @param query - `[tokens, heads · headSize]`
 * @param key - `[tokens, keyHeads · headSize]`
 * @param value - Same shape as `key`.
 * @returns `[tokens, heads · headSize]`
 */
export function packedAttention(
  query: Value,
  key: Value,
  value: Value,
  options: PackedAttentionOptions,
): Value {
  const { queries, keys, mask, scale, ops } = requireFields('packedAttention: options', {}, options);
  requireFields('packedAttention', { heads: 'number', toRows: 'function', toTokens: 'function' }, queries);
  requireFields('packedAttention', { heads: 'number', toRows: 'function', toTokens: 'function' }, keys);
  expectValues('packedAttention', { query, key, value, mask });
  const part = { toRows: queries.toRows, mask, seen: (x: Value) => x, pad: (x: Value) => x };
  const toTokens = ([y]: readonly Value[]) => queries.toTokens(y!);
  return attendInParts([query, key, value], {
    heads: queries.heads,
    parts: [part],
    toTokens,
    keys,
    scale,
    ops,
  });
}

/** Queries of some columns of a layout. They see the keys up to the last of these columns. */
export interface QueryPart {
  /** `[tokens, heads · size]` to `[rows, heads, columns, size]`. */
  readonly toRows: (x: Value) => Value;
  /** Additive mask `[rows, 1, 1, columns, seen]`. */
  readonly mask: Value;
  /** Columns that the queries may see, of `[rows, keyHeads, length, size]`. */
  readonly seen: (x: Value) => Value;
  /** Adds zeros for columns that this part sees and the part before does not. */
  readonly pad: (x: Value) => Value;
}

/** What {@link attendInParts} computes. */
export interface PartedAttention {
  readonly heads: number;
  readonly parts: readonly QueryPart[];
  /** `[rows, heads, columns, size]` of every part to `[tokens, heads · size]`. */
  readonly toTokens: (parts: readonly Value[]) => Value;
  readonly keys: HeadMover;
  readonly scale?: number | undefined;
  readonly ops?: OperatorSet | undefined;
}

/** {@link packedAttention} of queries in parts of columns. */
export function attendInParts(
  [query, key, value]: readonly [Value, Value, Value],
  { heads, parts, toTokens, keys, scale: given, ops }: PartedAttention,
): Value {
  const groups = keys.heads;
  const [tokens, width] = query.shape as [Dimension, number];
  const size = width / heads;
  const scale = given ?? 1 / Math.sqrt(size);
  const apart = (x: Value, { mask }: QueryPart) =>
    reshape(x, [mask.shape[0]!, heads, mask.shape[3]!, x.shape[3]!]);
  let kept: readonly { readonly part: QueryPart; readonly attended: AttendedKeys }[];
  const [y] = customGradient(
    [query, key, value],
    () => {
      const [allKeys, allValues] = [keys.toRows(key), keys.toRows(value)];
      kept = parts.map((part) => {
        const q = grouped(part.toRows(query), groups);
        const { mask } = part;
        return {
          part,
          attended: attendKeys([q, part.seen(allKeys), part.seen(allValues)], { mask, scale, ops }),
        };
      });
      return [toTokens(kept.map(({ part, attended }) => apart(attended.output(), part)))];
    },
    ([upstream], [needsQuery, needsKey, needsValue]) => {
      const products = reshape(mul(upstream!, y), [tokens, heads, size]);
      const sums = reshape(sum(products, { axes: -1 }), [tokens, heads]);
      const found = kept.map(({ part, attended }) => {
        const [g, own] = [upstream!, sums].map((x) => grouped(part.toRows(x), groups));
        const gradients = attended.gradients(g!, own!);
        return { ...gradients, ofQueries: () => apart(gradients.ofQueries(), part) };
      });
      const total = (gradients: readonly Value[]) =>
        keys.toTokens(gradients.reduce((total, gradient, index) => add(parts[index]!.pad(total), gradient)));
      return [
        needsQuery ? toTokens(found.map(({ ofQueries }) => ofQueries())) : undefined,
        needsKey ? total(found.map(({ ofKeys }) => ofKeys())) : undefined,
        needsValue ? total(found.map(({ ofValues }) => ofValues())) : undefined,
      ];
    },
  );
  return y;
}
