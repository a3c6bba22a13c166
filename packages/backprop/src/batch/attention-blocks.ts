import type { LayoutCosts } from './layout-costs.ts';

/** Rows up to this length are computed at once. In blocks they take longer, because probabilities are computed twice. */
export const longestWhole = 512;

/** Columns of a block, about. Smaller blocks leave out more pairs and add more gradients of keys. */
export const blockColumns = 256;

/** Number of blocks of a row. */
export function blocksOf(length: number, { attention }: LayoutCosts): number {
  return attention === 'whole' || length <= longestWhole ? 1 : Math.ceil(length / blockColumns);
}

/** Smallest length of at least `length` that blocks divide. */
export function wholeBlocks(length: number, costs: LayoutCosts): number {
  const blocks = blocksOf(length, costs);
  return blocks * Math.ceil(length / blocks);
}

/** Pairs that attention computes in a row. Of each block, those with the columns up to its end. */
export function pairsOf(length: number, costs: LayoutCosts): number {
  const blocks = blocksOf(length, costs);
  return (length * length * (blocks + 1)) / (2 * blocks);
}

/** Scores that stay in a processor's cache while a layer reads and writes them. */
const cachedScores = 2 ** 20;

/** Cost of attention on a number of rows, in tokens. The more scores at once, the more of them are read from memory. */
export function attentionCost(rows: number, length: number, costs: LayoutCosts): number {
  const pairs = rows * pairsOf(length, costs);
  const atOnce = (costs.scores * rows * length * length) / blocksOf(length, costs);
  const doublings = Math.max(0, Math.log2(atOnce / cachedScores));
  return costs.pair * pairs * (costs.scores === 0 ? 1 : 0.7 + 0.13 * doublings);
}
