import type { LayoutCosts, Tree } from './shared-prefixes.ts';

/** Trees that are computed together, and the rectangle of their attention. */
export interface Rectangle {
  /** Trees of each row. */
  readonly rows: readonly (readonly Tree[])[];
  /** Positions of a row, which are those of its longest tree. */
  readonly length: number;
}

/** Cost of one more micro-batch, in tokens: a pass over all gradients, and smaller matrix products. */
const microBatchCost = 128;

/**
 * Divides trees into micro-batches at the lowest cost. Each has at most `limit` positions in its rectangle, or one tree.
 *
 * Only attention computes empty positions, so the cost is that of the pairs in all rectangles, and of each micro-batch.
 */
export function cutRectangles(trees: readonly Tree[], limit: number, { pair }: LayoutCosts): Rectangle[] {
  const order = trees.toSorted((a, b) => b.size - a.size);
  const best = new Float64Array(order.length + 1);
  const ends = new Int32Array(order.length);
  for (let start = order.length - 1; start >= 0; start--) {
    const { size: length } = order[start]!;
    const rows = new Rows(length);
    best[start] = Number.POSITIVE_INFINITY;
    for (let end = start; end < order.length; end++) {
      rows.place(order[end]!);
      if (end > start && rows.count * length > limit) break;
      const cost = microBatchCost + pair * rows.count * length * length + best[end + 1]!;
      if (cost > best[start]!) continue;
      best[start] = cost;
      ends[start] = end + 1;
    }
  }
  const found: Rectangle[] = [];
  for (let start = 0; start < order.length; start = ends[start]!) {
    const rows = new Rows(order[start]!.size);
    for (const tree of order.slice(start, ends[start])) rows.place(tree);
    found.push({ rows: rows.trees, length: order[start]!.size });
  }
  return found;
}

/** Rows of one length that are filled first fit. */
class Rows {
  readonly trees: Tree[][] = [];
  readonly #free: number[] = [];
  readonly #length: number;

  constructor(length: number) {
    this.#length = length;
  }

  get count(): number {
    return this.trees.length;
  }

  place(tree: Tree): void {
    const fitting = this.#free.findIndex((free) => free >= tree.size);
    const row = fitting >= 0 ? fitting : this.trees.push([]) - 1;
    this.#free[row] = (this.#free[row] ?? this.#length) - tree.size;
    this.trees[row]!.push(tree);
  }
}
