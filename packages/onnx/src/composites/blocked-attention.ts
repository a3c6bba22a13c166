import { requireFields } from '@rlp/core';
import { customGradient } from '../autodiff/custom-gradient.ts';
import { expectValues } from '../graph/expect-values.ts';
import { defineOp, type Value } from '../graph/graph.ts';
import { type Dimension, productDimension, type Shape } from '../graph/shape.ts';
import { add, mul, sub } from '../ops/arithmetic.ts';
import { and, cast, greater, less, where } from '../ops/comparison.ts';
import { gather, range } from '../ops/indexing.ts';
import { concat } from '../ops/layout.ts';
import { loop } from '../ops/loop.ts';
import { applyOne } from '../ops/operand.ts';
import { dimensionSize, filled, reshape, sum } from '../ops/shape.ts';
import { attendKeys } from './attend-keys.ts';
import { type HeadMover, headMover, type TokenLayout } from './packed-attention.ts';

/** Attention of packed tokens, block by block. */
export type BlockedAttention = (
  query: Value,
  key: Value,
  value: Value,
  options: {
    readonly scale: number;
    readonly window?: number | undefined;
    /** `'unread'` if nothing reads the outputs of a stem's tokens, which then are 0. Default: they are read. */
    readonly stem?: 'unread' | undefined;
  },
) => Value;

const sliceOp = defineOp({ type: 'Slice' });
const padOp = defineOp({ type: 'Pad' });

/** Columns of a rectangle that a block of queries may see: those up to the block's last. */
interface Block {
  /** Index of the block, int64 `[]`. */
  readonly index: Value;
  /** Number of columns up to the block's end, int64 `[1]`. */
  readonly end: Value;
  /** Additive mask `[rows, 1, 1, columns, seen]`. */
  readonly mask: Value;
}

/**
 * Attention in blocks of queries, one after the other, as `packedAttention` computes it at once.
 *
 * A block reads only the keys up to its last query, so about half of the pairs. Its probabilities are computed again in the
 * backward pass. Memory is therefore linear in the length.
 *
 * The layout needs `blocks`. Create the function once and share it among layers.
 */
export function blockedAttention(layout: TokenLayout, heads: number, keyHeads: number): BlockedAttention {
  const { slots, places } = requireFields(
    'blockedAttention',
    {},
    requireFields('blockedAttention: layout', {}, layout).blocks!,
  );
  expectValues('blockedAttention', { slots, places });
  const [blocks, rows, columns] = slots.shape as [Dimension, Dimension, Dimension];
  const inBlocks = reshape(slots, [productDimension([blocks, rows]), columns]);
  const queries = headMover({ slots: inBlocks, places }, heads);
  const keys = headMover(layout, keyHeads);
  const sizes = { blocks, rows, columns, heads, keyHeads };
  const masks = maskData(layout);
  return (query, key, value, { scale, window }) => {
    const at = (index: Value) => blockAt(layout, masks, sizes, index, window);
    return attendInBlocks([query, key, value], { queries, keys, sizes, scale, at });
  };
}

interface Sizes {
  readonly blocks: Dimension;
  readonly rows: Dimension;
  readonly columns: Dimension;
  readonly heads: number;
  readonly keyHeads: number;
}

/** Ends and positions of the columns as floats, `[rows, length]`, because comparing floats is fast. */
interface MaskData {
  readonly ends: Value;
  readonly positions: Value;
  /** `0 … length − 1`. */
  readonly columns: Value;
}

function maskData({ slots, ends, positions }: TokenLayout): MaskData {
  return {
    ends: cast(ends, 'float32'),
    positions: cast(gather(positions, slots), 'float32'),
    columns: cast(range(slots.graph, slots.shape[1]!), 'float32'),
  };
}

function blockAt(
  { slots }: TokenLayout,
  { ends, positions, columns: numbers }: MaskData,
  { rows, columns }: Sizes,
  index: Value,
  window: number | undefined,
): Block {
  const { graph } = slots;
  const size = dimensionSize(graph, columns);
  const start = mul(reshape(index, [1]), size);
  const end = add(start, size);
  const seen = (x: Value, axis: number) => cut(x, axis, graph.constant([0], [1], 'int64'), end, 'seen');
  const own = (x: Value, axis: number) => cut(x, axis, start, end, columns);
  const query = reshape(own(numbers, 0), [columns, 1]);
  const past = less(reshape(seen(numbers, 0), [1, 'seen']), add(query, 1));
  const ofTree = less(query, reshape(seen(ends, 1), [rows, 1, 'seen']));
  const near = () => {
    const first = sub(reshape(own(positions, 1), [rows, columns, 1]), window!);
    return greater(reshape(seen(positions, 1), [rows, 1, 'seen']), first);
  };
  const visible = window === undefined ? and(ofTree, past) : and(and(ofTree, past), near());
  const mask = where(visible, graph.constant(0), graph.constant(-1e30));
  return { index, end, mask: reshape(mask, [rows, 1, 1, columns, 'seen']) };
}

interface Plan {
  readonly queries: HeadMover;
  readonly keys: HeadMover;
  readonly sizes: Sizes;
  readonly scale: number;
  readonly at: (index: Value) => Block;
}

function attendInBlocks([query, key, value]: readonly [Value, Value, Value], plan: Plan): Value {
  const { queries, keys, sizes, scale, at } = plan;
  const { blocks, rows, columns, heads, keyHeads } = sizes;
  const { graph } = query;
  const [tokens, width] = query.shape as [Dimension, number];
  const size = width / heads;
  const perBlock: Shape = [rows, keyHeads, productDimension([heads / keyHeads, columns]), size];
  const toBlocks = (x: Value, last: number) =>
    reshape(queries.toRows(x), [blocks, ...perBlock.slice(0, -1), last]);
  const toTokens = (x: Value) =>
    queries.toTokens(reshape(x, [productDimension([blocks, rows]), heads, columns, size]));
  const seen = (x: Value, { end }: Block) => cut(x, 2, graph.constant([0], [1], 'int64'), end, 'seen');
  const attended = ({ q, k, v }: typeof kept, block: Block) =>
    attendKeys([gather(q, block.index), seen(k, block), seen(v, block)], { mask: block.mask, scale });
  let kept: { q: Value; k: Value; v: Value };
  const [y] = customGradient(
    [query, key, value],
    () => {
      const [q, k, v] = [toBlocks(query, size), keys.toRows(key), keys.toRows(value)];
      kept = { q, k, v };
      const { collected } = loop(graph, blocks, [], (index) => ({
        carried: [],
        collected: [attended(kept, at(index)).output()],
      }));
      return [toTokens(collected[0]!)];
    },
    ([upstream]) => {
      const { k } = kept;
      const g = toBlocks(upstream!, size);
      const products = reshape(mul(upstream!, y), [tokens, heads, size]);
      const sums = toBlocks(reshape(sum(products, { axes: -1 }), [tokens, heads]), 1);
      const zeros = filled(graph, k.type, k.shape);
      const { carried, collected } = loop(graph, blocks, [zeros, zeros], (index, [ofKeys, ofValues]) => {
        const block = at(index);
        const found = attended(kept, block).gradients(gather(g, index), gather(sums, index));
        const padded = (part: Value) => padColumns(part, block.end, k.shape);
        return {
          carried: [add(ofKeys!, padded(found.ofKeys())), add(ofValues!, padded(found.ofValues()))],
          collected: [found.ofQueries()],
        };
      });
      return [toTokens(collected[0]!), ...carried.map(keys.toTokens)];
    },
  );
  return y;
}

/** Elements `start … end − 1` of an axis, where both are known at run time only. */
export function cut(x: Value, axis: number, start: Value, end: Value, size: Dimension): Value {
  const shape = x.shape.with(axis, size);
  return applyOne(
    sliceOp,
    [x, start, end, x.graph.constant([axis], [1], 'int64')],
    {},
    { type: x.type, shape },
  );
}

/** Zeros behind the columns `[rows, heads, columns, size]` of `x`, up to `shape`. */
export function padColumns(x: Value, columns: Value, shape: Shape): Value {
  const zeros = (count: number) => x.graph.constant(new Array<number>(count).fill(0), [count], 'int64');
  const missing = sub(dimensionSize(x.graph, shape[2]!), columns);
  const amounts = concat([zeros(6), missing, zeros(1)], 0);
  return applyOne(padOp, [x, amounts], {}, { type: x.type, shape });
}
