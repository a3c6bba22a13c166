/** `'blocks'` computes long rows in blocks of columns, `'whole'` computes all pairs at once. */
export type AttentionForm = 'whole' | 'blocks';

/** How attention may be computed, and what it costs beside the rest of the model. */
export interface LayoutCosts {
  /** Cost of a pair of positions in attention, in tokens through the rest of the model. */
  readonly pair: number;
  /** `'blocks'` if rows may be computed in blocks. */
  readonly attention: AttentionForm;
}

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
