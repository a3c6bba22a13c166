import { ArgumentError, requireFields } from '@rlp/core';
import type { Value } from '../graph/graph.ts';
import { type Dimension, staticDimension } from '../graph/shape.ts';
import { add, div, mul, sub } from '../ops/arithmetic.ts';
import { cast, greaterOrEqual } from '../ops/comparison.ts';
import { gather, range } from '../ops/indexing.ts';
import { concat } from '../ops/layout.ts';
import { dimensionSize, reshape } from '../ops/shape.ts';
import { type BlockedAttention, cut, padColumns } from './blocked-attention.ts';
import {
  allColumns,
  attendInParts,
  type Columns,
  headMover,
  layoutMask,
  type QueryPart,
  type TokenLayout,
} from './packed-attention.ts';

/** Options of {@link splitAttention}. */
export interface SplitAttentionOptions {
  /** Number of query heads. Required. */
  readonly heads: number;
  /** Number of key heads, which divides that of the queries. Required. */
  readonly keyHeads: number;
  /** Sliding windows that layers have. `undefined` for layers without one. Required. */
  readonly windows: Iterable<number | undefined>;
}

/**
 * Attention of packed tokens in the layout's `parts` of columns, as `packedAttention` computes it at once.
 *
 * A part's queries see only the keys up to its last column, so two parts leave out a quarter of the pairs, and three a
 * third. Unlike `blockedAttention` it keeps the probabilities.
 *
 * The layout needs at least as many columns as parts. Create the function once and share it among layers.
 *
 * @throws ArgumentError for a layout without at least two parts.
 */
export function splitAttention(layout: TokenLayout, options: SplitAttentionOptions): BlockedAttention {
  const { heads, keyHeads, windows } = requireFields('splitAttention: options', {}, options);
  const { parts } = requireFields('splitAttention: layout', {}, layout);
  if (parts === undefined || !(Number.isInteger(parts) && parts >= 2)) {
    throw new ArgumentError(
      `splitAttention: expected a layout with at least 2 parts, got ${parts}; packedAttention computes all columns at once`,
    );
  }
  const columns = splitColumns(layout, parts);
  const movers = columns.map(({ ofOwn }) =>
    headMover({ slots: ofOwn(layout.slots, 1), places: layout.places }, heads),
  );
  const toTokens = tokensOf(layout, heads, columns);
  const keys = headMover(layout, keyHeads);
  const partsOf = (window: number | undefined) =>
    columns.map(
      (own, index): QueryPart => ({
        toRows: movers[index]!.toRows,
        mask: layoutMask(layout, window, own),
        seen: (x) => own.ofSeen(x, 2),
        pad: (x) => padColumns(x, columns[index - 1]!.end, x.shape.with(2, own.seen)),
      }),
    );
  const byWindow = new Map([...windows].map((window) => [window, partsOf(window)]));
  return (query, key, value, { scale, window }) =>
    attendInParts([query, key, value], { heads, parts: byWindow.get(window)!, toTokens, keys, scale });
}

interface PartColumns extends Columns {
  /** Index of the first column and number of columns up to the last, int64 `[1]`. */
  readonly start: Value;
  readonly end: Value;
}

function splitColumns(layout: TokenLayout, count: number): PartColumns[] {
  const { slots } = layout;
  const { graph } = slots;
  const length = slots.shape[1]!;
  const size = dimensionSize(graph, length);
  const bound = (index: number) => div(mul(size, index), count);
  const zero = graph.constant([0], [1], 'int64');
  return Array.from({ length: count }, (_, index) => {
    const [start, end] = [bound(index), bound(index + 1)];
    const own = `part${index}`;
    const isLast = index === count - 1;
    const seen = isLast ? length : `seen${index}`;
    return {
      ...allColumns(layout),
      ...{ start, end, own, seen },
      ofOwn: (x, axis) => cut(x, axis, start, end, own),
      ...(!isLast && { ofSeen: (x: Value, axis: number) => cut(x, axis, zero, end, seen) }),
    };
  });
}

/** Heads of all parts `[rows, heads, columns, size]` to tokens `[tokens, heads · size]`. */
function tokensOf({ slots, places }: TokenLayout, heads: number, columns: readonly PartColumns[]) {
  const { graph } = slots;
  const [rows, length] = slots.shape as [Dimension, Dimension];
  const [tokens] = places.shape as [Dimension];
  const size = dimensionSize(graph, length);
  const row = div(places, size);
  const column = sub(places, mul(row, size));
  const later = columns.slice(1).map(({ start }) => cast(greaterOrEqual(column, start), 'int64'));
  const part = later.reduce((total, one) => add(total, one));
  const of = (values: readonly Value[]) => gather(concat(values, 0), part);
  const start = of(columns.map((one) => one.start));
  const width = of(columns.map(({ start, end }) => sub(end, start)));
  // Parts stand one after another. Element (r · heads + h) · width + c of a part is column c of head h in row r.
  const before = mul(start, mul(dimensionSize(graph, rows), heads));
  const first = add(before, add(mul(mul(row, heads), width), sub(column, start)));
  const step = mul(reshape(width, [tokens, 1]), reshape(range(graph, heads), [1, heads]));
  const elements = add(reshape(first, [tokens, 1]), step);
  return (parts: readonly Value[]) => {
    const own = staticDimension('splitAttention', parts[0]!.shape, parts[0]!.shape.at(-1));
    const flat = parts.map((x) => reshape(x, [-1, own]));
    return reshape(gather(concat(flat, 0), elements), [tokens, heads * own]);
  };
}
