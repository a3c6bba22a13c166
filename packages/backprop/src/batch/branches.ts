import { type LayoutCosts, stemParts } from './layout-costs.ts';
import { type Branch, type Path, sortedBranches, type Tree } from './shared-prefixes.ts';

/** A tree whose sequences share the same first positions and nothing else. It is a micro-batch. */
export interface BranchedTree extends Tree {
  /** Positions that all sequences share. */
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
 * @returns `undefined` if nothing is shared, or if a sequence is too short to be a stem.
 */
export function growBranches(
  paths: readonly Path[],
  claims: 'exclusive' | 'equal' | 'nothing',
  limit: number,
  costs: LayoutCosts,
): BranchedTree[] | undefined {
  const { branchedPairs = 0 } = costs;
  const lengthOf = ({ member }: Branch) => paths[member]!.claims.length;
  const alone = (branch: Branch): BranchedTree => {
    const size = lengthOf(branch);
    return { branches: [{ ...branch, shared: 0 }], size, stem: size - 1, length: 1 };
  };
  const trees: BranchedTree[] = [];
  for (const branch of sortedBranches(paths, claims, paths.keys())) {
    const last = trees.at(-1);
    const joined = last && join(last, branch, lengthOf);
    const fits =
      joined &&
      Math.max(joined.size, joined.branches.length * joined.length) <= limit &&
      pairsOf(joined) <= branchedPairs;
    if (fits) trees[trees.length - 1] = joined;
    else trees.push(alone(branch));
  }
  const isSound = (tree: BranchedTree) => tree.stem >= stemParts && pairsOf(tree) <= branchedPairs;
  return trees.some(isShared) && trees.every(isSound) ? trees : undefined;
}

function isShared({ branches }: BranchedTree): boolean {
  return branches.length > 1;
}

/** The tree with one more branch, if the branch leaves it at its stem's end. */
function join(
  tree: BranchedTree,
  branch: Branch,
  lengthOf: (branch: Branch) => number,
): BranchedTree | undefined {
  const { branches } = tree;
  const [first] = branches;
  const stem = branch.shared;
  const shortest = Math.min(lengthOf(branch), lengthOf(first!));
  if (stem < leastStem || stem >= shortest || (branches.length > 1 && stem !== tree.stem)) return undefined;
  const all = [...branches, branch];
  const own = all.map((one) => lengthOf(one) - stem);
  return {
    branches: all,
    size: own.reduce((sum, length) => sum + length, stem),
    stem,
    length: Math.max(...own),
  };
}

/** Pairs that attention computes: of the stem in parts, of the branches with the stem, and of each branch with itself. */
function pairsOf({ branches, size, stem, length }: BranchedTree): number {
  const ofStem = (stem ** 2 * (stemParts + 1)) / (2 * stemParts);
  return ofStem + (size - stem) * stem + branches.length * length ** 2;
}

/** Cost of these micro-batches, in tokens. One with a shared stem costs half of what one more rectangle does: measured. */
export function branchedCost(trees: readonly BranchedTree[], costs: LayoutCosts): number {
  const costOf = (tree: BranchedTree) =>
    costs.microBatch / (isShared(tree) ? 2 : 1) + tree.size + costs.pair * pairsOf(tree);
  return trees.reduce((sum, tree) => sum + costOf(tree), 0);
}
