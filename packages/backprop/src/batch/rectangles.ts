import { attentionCost, blocksOf, wholeBlocks } from './attention-blocks.ts';
import { type LayoutCosts, tokensCost } from './layout-costs.ts';
import type { Tree } from './shared-prefixes.ts';

/** Trees that are computed together, and the rectangle of their attention. */
export interface Rectangle {
  /** Trees of each row. */
  readonly rows: readonly (readonly Tree[])[];
  /** Positions of a row: those of its longest tree, and a few more if blocks do not divide them. */
  readonly length: number;
  /** Blocks that attention computes a row in. */
  readonly blocks: number;
}

/**
 * Divides trees into micro-batches at the lowest cost. Each has at most `limit` positions in its rectangle, or one unit.
 *
 * Trees of one unit stay together. Only attention computes empty positions, so the cost is that of the tokens, of the pairs in all rectangles, and of each
 * micro-batch.
 */
export function cutRectangles(
  units: readonly (readonly Tree[])[],
  limit: number,
  costs: LayoutCosts,
): Rectangle[] {
  const order = units
    .map((trees) => ({ trees, size: Math.max(...trees.map(({ size }) => size)) }))
    .sort((a, b) => b.size - a.size);
  const best = new Float64Array(order.length + 1);
  const ends = new Int32Array(order.length);
  for (let start = order.length - 1; start >= 0; start--) {
    const length = wholeBlocks(order[start]!.size, costs);
    const rows = new Rows(length);
    best[start] = Number.POSITIVE_INFINITY;
    for (let end = start; end < order.length; end++) {
      for (const tree of order[end]!.trees) rows.place(tree);
      if (end > start && rows.count * length > limit) break;
      const cost = microBatchCost(rows, length, costs) + best[end + 1]!;
      if (cost > best[start]!) continue;
      best[start] = cost;
      ends[start] = end + 1;
    }
  }
  const found: Rectangle[] = [];
  for (let start = 0; start < order.length; start = ends[start]!) {
    const length = wholeBlocks(order[start]!.size, costs);
    const rows = new Rows(length);
    for (const tree of order.slice(start, ends[start]).flatMap(({ trees }) => trees)) rows.place(tree);
    found.push({ rows: rows.trees, length, blocks: blocksOf(length, costs) });
  }
  return found;
}

/** Cost of micro-batches, in tokens. */
export function rectanglesCost(rectangles: readonly Rectangle[], costs: LayoutCosts): number {
  const costOf = ({ rows, length }: Rectangle) =>
    microBatchCost({ count: rows.length, size: sizeOf(rows) }, length, costs);
  return rectangles.reduce((sum, rectangle) => sum + costOf(rectangle), 0);
}

function microBatchCost(rows: Pick<Rows, 'count' | 'size'>, length: number, costs: LayoutCosts): number {
  return costs.microBatch + tokensCost(rows.size, costs) + attentionCost(rows.count, length, costs);
}

/** Tokens in the trees of all rows. */
export function sizeOf(rows: Rectangle['rows']): number {
  return rows.flat().reduce((sum, { size }) => sum + size, 0);
}

/** Rows of one length that are filled first fit. */
class Rows {
  readonly trees: Tree[][] = [];
  /** Tokens in all trees. */
  size = 0;
  readonly #free: number[] = [];
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }

  get count(): number {
    return this.trees.length;
  }

  place(tree: Tree): void {
    this.size += tree.size;
    const fitting = this.#free.findIndex((free) => free >= tree.size);
    const row = fitting >= 0 ? fitting : this.trees.push([]) - 1;
    this.#free[row] = (this.#free[row] ?? this.#length) - tree.size;
    this.trees[row]!.push(tree);
  }
}
