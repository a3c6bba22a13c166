import { type LayoutCosts, stemParts, tokensCost } from './layout-costs.ts';
import { type Branch, type Path, sortedBranches, type Tree } from './shared-prefixes.ts';

/** A tree whose sequences share the same first positions and nothing else. It is a micro-batch. */
export interface BranchedTree extends Tree {
  /** Positions that all sequences share. Nothing is computed after them. */
  readonly stem: number;
  /** Positions of the longest branch behind them. */
  readonly length: number;
}

/** Shorter prefixes are not shared, because a tree is a micro-batch. */
const leastStem = 16;

/**
 * Joins sequences to trees of a stem and branches. A sequence alone is a stem with one branch.
 *
 * @param limit - Maximum positions of a tree, and of the rectangle of its branches.
 * @returns `undefined` if nothing is shared, or if a sequence has too few positions before those that something is computed after.
 */
export function growBranches(
  paths: readonly Path[],
  claims: 'exclusive' | 'equal' | 'nothing',
  limit: number,
  costs: LayoutCosts,
): BranchedTree[] | undefined {
  const { branchedPairs: most = 0 } = costs;
  if (most === 0) return undefined;
  const fits = (tree: BranchedTree) =>
    Math.max(tree.size, tree.branches.length * tree.length) <= limit && pairsOf(tree) <= most;
  const trees: BranchedTree[] = [];
  for (const branch of sortedBranches(paths, claims, paths.keys())) {
    const alone = treeOf(branch, paths);
    const last = trees.at(-1);
    const joined = last && join(last, branch, alone);
    if (joined && fits(joined)) trees[trees.length - 1] = joined;
    else trees.push(alone);
  }
  const isSound = (tree: BranchedTree) => tree.stem >= stemParts && pairsOf(tree) <= most;
  return trees.some(isShared) && trees.every(isSound) ? trees : undefined;
}

function isShared({ branches }: BranchedTree): boolean {
  return branches.length > 1;
}

/** A sequence alone. Its stem ends where something is computed. */
function treeOf({ member }: Branch, paths: readonly Path[]): BranchedTree {
  const { claims } = paths[member]!;
  const stem = claims.findIndex((claim) => claim !== 0);
  return { branches: [{ member, shared: 0 }], size: claims.length, stem, length: claims.length - stem };
}

/** The tree with one more branch, if the branch leaves it at its stem's end. */
function join(tree: BranchedTree, branch: Branch, alone: BranchedTree): BranchedTree | undefined {
  const stem = Math.min(branch.shared, alone.stem);
  const leaves = isShared(tree) ? stem === tree.stem : stem <= tree.stem;
  if (!leaves || stem < leastStem) return undefined;
  const own = alone.size - stem;
  const length = Math.max(own, isShared(tree) ? tree.length : tree.size - stem);
  return { branches: [...tree.branches, branch], size: tree.size + own, stem, length };
}

/** Pairs that attention computes: of the stem in parts, of the branches with the stem, and of each branch with itself. */
export function branchedPairs(
  branches: number,
  { size, stem, length }: Pick<BranchedTree, 'size' | 'stem' | 'length'>,
): number {
  const ofStem = (stem ** 2 * (stemParts + 1)) / (2 * stemParts);
  return ofStem + (size - stem) * stem + branches * length ** 2;
}

function pairsOf(tree: BranchedTree): number {
  return branchedPairs(tree.branches.length, tree);
}

/** Cost of these micro-batches, in tokens. One with a shared stem costs half of what one more rectangle does: measured. */
export function branchedCost(trees: readonly BranchedTree[], costs: LayoutCosts): number {
  const costOf = (tree: BranchedTree) =>
    costs.microBatch / (isShared(tree) ? 2 : 1) + tokensCost(tree.size, costs) + costs.pair * pairsOf(tree);
  return trees.reduce((sum, tree) => sum + costOf(tree), 0);
}
