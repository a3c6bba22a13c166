import {
  type AttentionForm,
  attentionParts,
  blockColumns,
  type LayoutCosts,
  longestWhole,
} from './layout-costs.ts';

/** Rows up to this length are not split, because a part's products would be too small. */
const longestUnsplit = 64;

/** Cost of a token's pairs, in tokens, above which a split pays for a larger graph, which takes longer to compile. */
const leastPairsCost = 0.25;

/** Number of blocks of a row. */
export function blocksOf(length: number, { attention, longestSplit = 0 }: LayoutCosts): number {
  const atOnce = attention === 'whole' || length <= Math.max(longestWhole, longestSplit);
  return atOnce ? 1 : Math.ceil(length / blockColumns);
}

function isSplit(length: number, { pair, longestSplit = 0 }: LayoutCosts): boolean {
  return length <= longestSplit && length > longestUnsplit && pair * length > leastPairsCost;
}

/** Form of a graph that computes the attention of all these micro-batches. */
export function attentionForm(
  microBatches: readonly { readonly length: number; readonly blocks: number; readonly stem?: number }[],
  costs: LayoutCosts,
): AttentionForm {
  if (microBatches.some(({ stem }) => stem)) return 'branches';
  if (microBatches.some(({ blocks }) => blocks > 1)) return 'blocks';
  return microBatches.some(({ length }) => isSplit(length, costs)) ? 'split' : 'whole';
}

/** Smallest length of at least `length` that blocks divide. If rows may be split, every part has a column. */
export function wholeBlocks(length: number, costs: LayoutCosts): number {
  const blocks = blocksOf(length, costs);
  return Math.max(blocks * Math.ceil(length / blocks), costs.longestSplit ? attentionParts : 1);
}

/** Blocks or parts of a row. */
function partsOf(length: number, costs: LayoutCosts): number {
  return isSplit(length, costs) ? attentionParts : blocksOf(length, costs);
}

/** Pairs that attention computes in a row. Of each block or part, those with the columns up to its end. */
export function pairsOf(length: number, costs: LayoutCosts): number {
  const blocks = partsOf(length, costs);
  return (length * length * (blocks + 1)) / (2 * blocks);
}

/** Scores that stay in a processor's cache while a layer reads and writes them. */
const cachedScores = 2 ** 20;

/** Cost of attention on a number of rows, in tokens. The more scores at once, the more of them are read from memory. */
export function attentionCost(rows: number, length: number, costs: LayoutCosts): number {
  const pairs = rows * pairsOf(length, costs);
  const atOnce = (costs.scores * rows * length * length) / partsOf(length, costs);
  const doublings = Math.max(0, Math.log2(atOnce / cachedScores));
  return costs.pair * pairs * (costs.scores === 0 ? 1 : 0.7 + 0.13 * doublings);
}
