import { pairsOf } from './attention-blocks.ts';
import type { LayoutCosts } from './layout-costs.ts';

/** Positions of one sequence: the tokens that are read, and what is computed after each. */
export interface Path {
  readonly tokens: ArrayLike<number>;
  /** 0 if nothing is computed at the position, otherwise 1 + the token whose score is computed. */
  readonly claims: Int32Array;
}

/** A sequence in a tree. */
export interface Branch {
  /** Index of the sequence. */
  readonly member: number;
  /** Positions that it shares with the sequence before it. */
  readonly shared: number;
}

/** Sequences that begin alike, in an order in which each shares its first positions with the one before it. */
export interface Tree {
  readonly branches: readonly Branch[];
  /** Positions, shared ones counted once. */
  readonly size: number;
}

/**
 * Joins sequences with common prefixes to trees where this is cheaper than to compute them apart.
 *
 * A tree takes one row of attention's rectangle, so a long tree saves tokens and costs pairs.
 *
 * @param claims - `'exclusive'`: a position that two sequences claim is not shared. `'equal'`: it is if they claim the
 * same. `'nothing'`: no position is shared.
 * @param limit - Maximum positions of a tree of several sequences.
 * @param members - Indices of the sequences that may be joined. Default: all.
 */
export function growTrees(
  paths: readonly Path[],
  claims: 'exclusive' | 'equal' | 'nothing',
  limit: number,
  costs: LayoutCosts,
  members: Iterable<number> = paths.keys(),
): Tree[] {
  const branches = sortedBranches(paths, claims, members);
  const count = branches.length;
  const best = new Float64Array(count + 1);
  const ends = new Int32Array(count);
  const lengthOf = ({ member }: Branch) => paths[member]!.claims.length;
  for (let start = count - 1; start >= 0; start--) {
    best[start] = Number.POSITIVE_INFINITY;
    let size = lengthOf(branches[start]!);
    for (let end = start + 1; ; end++) {
      const cost = size + costs.pair * pairsOf(size, costs) + best[end]!;
      if (cost < best[start]!) {
        best[start] = cost;
        ends[start] = end;
      }
      if (end === count || branches[end]!.shared === 0) break;
      size += lengthOf(branches[end]!) - branches[end]!.shared;
      if (size > limit) break;
    }
  }
  const trees: Tree[] = [];
  for (let start = 0; start < count; start = ends[start]!) {
    const [first, ...rest] = branches.slice(start, ends[start]);
    const joined = [{ member: first!.member, shared: 0 }, ...rest];
    const size = joined.reduce((sum, branch) => sum + lengthOf(branch) - branch.shared, 0);
    trees.push({ branches: joined, size });
  }
  return trees;
}

/** Sequences in the order of their tokens, with the positions that each can share with the one before it. */
export function sortedBranches(
  paths: readonly Path[],
  claims: 'exclusive' | 'equal' | 'nothing',
  members: Iterable<number>,
): Branch[] {
  const order = [...members].filter((member) => paths[member]!.claims.length > 0);
  order.sort((a, b) => compareTokens(paths[a]!, paths[b]!) || a - b);
  /** Claims along the path of the sequence before, those of all that share it included. */
  const held: number[] = [];
  return order.map((member, index) => {
    const before = paths[order[index - 1]!];
    const { tokens, claims: own } = paths[member]!;
    const most = before && claims !== 'nothing' ? Math.min(before.claims.length, own.length) : 0;
    let shared = 0;
    while (shared < most && before!.tokens[shared] === tokens[shared]) {
      const [first, second] = [held[shared]!, own[shared]!];
      if (first !== 0 && second !== 0 && (claims === 'exclusive' || first !== second)) break;
      held[shared] = first || second;
      shared++;
    }
    held.length = shared;
    for (let t = shared; t < own.length; t++) held.push(own[t]!);
    return { member, shared };
  });
}

function compareTokens(a: Path, b: Path): number {
  const most = Math.min(a.claims.length, b.claims.length);
  for (let t = 0; t < most; t++) {
    const difference = a.tokens[t]! - b.tokens[t]!;
    if (difference !== 0) return difference;
  }
  return a.claims.length - b.claims.length;
}
