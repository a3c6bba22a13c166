import { attentionCost, blocksOf, wholeBlocks } from './attention-blocks.ts';
import type { LayoutCosts } from './layout-costs.ts';
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

/** Micro-batches, and whether two of them may be under way at once. */
export interface Cut {
  readonly rectangles: readonly Rectangle[];
  readonly runs: 'alone' | 'side by side';
}

/** Parts of a batch that micro-batches are cut to, so that there are enough of them for two lanes. */
const shares = [1, 2, 3, 4, 6, 8];

/** Time of a micro-batch on two threads, in that of one thread. They wait for each other in each operator. */
const aloneTime = 0.65;

/**
 * Divides trees into micro-batches that are done soonest. Two that are under way at once have at most `limit` positions together.
 *
 * How a batch is cut does not depend on the number of threads, and so neither do its results where two lanes are at work.
 */
export function layOut(units: readonly (readonly Tree[])[], limit: number, costs: LayoutCosts): Cut {
  const whole = cutRectangles(units, limit, costs);
  const positions = whole.reduce((sum, rectangle) => sum + positionsOf(rectangle), 0);
  let best: Cut = { rectangles: whole, runs: 'alone' };
  if (costs.lanes === 1) return best;
  let time = aloneTime * whole.reduce((sum, rectangle) => sum + rectangleCost(rectangle, costs), 0);
  for (const share of shares) {
    const rectangles = share === 1 ? whole : cutRectangles(units, Math.ceil(positions / share), costs);
    const found = timeOfLanes(rectangles, limit, costs);
    if (found >= time) continue;
    time = found;
    best = { rectangles, runs: 'side by side' };
  }
  return best;
}

/** When two lanes are done that each take the next micro-batch. Never if two are too large together. */
function timeOfLanes(rectangles: readonly Rectangle[], limit: number, costs: LayoutCosts): number {
  const [largest = 0, second = 0] = rectangles.map(positionsOf).sort((a, b) => b - a);
  if (largest + second > limit) return Number.POSITIVE_INFINITY;
  const lanes: [number, number] = [0, 0];
  for (const rectangle of rectangles) lanes[lanes[0] <= lanes[1] ? 0 : 1] += rectangleCost(rectangle, costs);
  return Math.max(...lanes);
}

function positionsOf({ rows, length }: Rectangle): number {
  return rows.length * length;
}

function rectangleCost({ rows, length }: Rectangle, costs: LayoutCosts): number {
  const tokens = rows.flat().reduce((sum, { size }) => sum + size, 0);
  return tokens + attentionCost(rows.length, length, costs) + costs.microBatch;
}

/**
 * Divides trees into micro-batches at the lowest cost. Each has at most `limit` positions in its rectangle, or one unit.
 *
 * Trees of one unit stay together. Only attention computes empty positions, so the cost is that of the pairs in all rectangles, and of each micro-batch.
 */
function cutRectangles(units: readonly (readonly Tree[])[], limit: number, costs: LayoutCosts): Rectangle[] {
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
      const cost = costs.microBatch + attentionCost(rows.count, length, costs) + best[end + 1]!;
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
