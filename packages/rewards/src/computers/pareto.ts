import { ArgumentError, counted, requireArguments } from '@rlp/core';
import { overPresent } from './normalized.ts';

/** Objective values of N points. Shape: `[N][F]`. */
export type ObjectivePoints = readonly (readonly number[])[];

/** Options of {@link paretoRanks}. */
export interface ParetoOptions {
  /** Which way is better, in every objective. Default `'maximize'`. */
  readonly direction?: 'maximize' | 'minimize' | undefined;
  /**
   * Exact duplicates of a point share its front (`'same-front'`, the default: neither dominates the other), or all but the
   * first move to the next (`'next-front'`, as rl_primitives has it, which rewards variety but depends on the order).
   */
  readonly duplicates?: 'same-front' | 'next-front' | undefined;
}

/**
 * Fronts of NSGA-II: 0 for points that no point dominates, 1 for those that only front 0 dominates, and so on.
 *
 * A point dominates another if it is at least as good in every objective and better in one. `O(N²F)`. Shape: `[N]`.
 *
 * @throws ArgumentError for values that are not finite, and for points of different lengths.
 * @see Deb et al. 2002, https://doi.org/10.1109/4235.996017
 */
export function paretoRanks(
  points: ObjectivePoints,
  { direction = 'maximize', duplicates = 'same-front' }: ParetoOptions = {},
): number[] {
  requirePoints('paretoRanks', points);
  const sign = direction === 'maximize' ? 1 : -1;
  const lexicographic = (a: number, b: number) => {
    const at = points[a]!.findIndex((value, f) => value !== points[b]![f]);
    return at < 0 ? a - b : sign * (points[b]![at]! - points[a]![at]!);
  };
  // A point comes after all that dominate it, so their ranks are known when it is its turn.
  const order = points.map((_, index) => index).sort(lexicographic);
  const rankOf = new Array<number>(points.length).fill(0);
  for (const [place, i] of order.entries()) {
    for (let before = 0; before < place; before++) {
      const j = order[before]!;
      const relation = compare(points[j]!, points[i]!, sign);
      const precedes = relation === 'dominates' || (relation === 'equal' && duplicates === 'next-front');
      if (precedes) rankOf[i] = Math.max(rankOf[i]!, rankOf[j]! + 1);
    }
  }
  return rankOf;
}

/** How `a`, which is not dominated by `b`, stands to `b`. */
function compare(
  a: readonly number[],
  b: readonly number[],
  sign: number,
): 'dominates' | 'equal' | 'neither' {
  let isBetter = false;
  for (const [f, value] of a.entries()) {
    const lead = sign * (value - b[f]!);
    if (lead < 0) return 'neither';
    if (lead > 0) isBetter = true;
  }
  return isBetter ? 'dominates' : 'equal';
}

/** Options of {@link crowdingDistances}. */
export interface CrowdingOptions {
  /**
   * `'deb'` (default): the sum over objectives of the normalised distance between both neighbours, as in the paper. It does
   * not depend on the order. Each of k equal values gets 1/k of the distance around them. All points with the smallest or
   * the largest value of an objective get infinity. An objective in which the whole front is equal counts 0.
   *
   * `'pymoo'`: as pymoo has it: divided by the number of objectives; all infinite in a front of one or two; equal
   * values count in their order, so that an inner one of three gets 0.
   */
  readonly convention?: 'deb' | 'pymoo' | undefined;
}

/**
 * Crowding distance within one front: distance of each point to its neighbours. Larger means less crowded. The ends of
 * every objective have infinity. Shape: `[N]`.
 *
 * @throws ArgumentError for values that are not finite, and for points of different lengths.
 * @see Deb et al. 2002, §III-B, https://doi.org/10.1109/4235.996017
 */
export function crowdingDistances(
  front: ObjectivePoints,
  { convention = 'deb' }: CrowdingOptions = {},
): number[] {
  requirePoints('crowdingDistances', front);
  return convention === 'deb' ? debCrowding(front) : pymooCrowding(front);
}

function debCrowding(front: ObjectivePoints): number[] {
  const distances = new Array<number>(front.length).fill(0);
  for (let f = 0; f < (front[0]?.length ?? 0); f++) {
    const values = [...new Set(front.map((point) => point[f]!))].sort((a, b) => a - b);
    const range = values.at(-1)! - values[0]!;
    if (range === 0) continue;
    const sharing = counted(front.map((point) => point[f]!));
    const gapAt = new Map(
      values.map((value, place) => {
        const isEnd = place === 0 || place === values.length - 1;
        const gap = isEnd ? Number.POSITIVE_INFINITY : (values[place + 1]! - values[place - 1]!) / range;
        return [value, gap / sharing.get(value)!];
      }),
    );
    for (const [n, point] of front.entries()) distances[n]! += gapAt.get(point[f]!)!;
  }
  // A front whose points are all equal has no range anywhere. Each of them is an end of it.
  return new Set(front.map(String)).size < 2 ? distances.map(() => Number.POSITIVE_INFINITY) : distances;
}

function pymooCrowding(front: ObjectivePoints): number[] {
  if (front.length <= 2) return front.map(() => Number.POSITIVE_INFINITY);
  const distances = new Array<number>(front.length).fill(0);
  const objectives = front[0]!.length;
  for (let f = 0; f < objectives; f++) {
    const order = front.map((_, n) => n).sort((a, b) => front[a]![f]! - front[b]![f]! || a - b);
    const valueAt = (place: number) => front[order[place]!]![f]!;
    const range = valueAt(order.length - 1) - valueAt(0);
    if (range === 0) continue;
    for (const [place, n] of order.entries()) {
      const isEnd = place === 0 || place === order.length - 1;
      const gap = isEnd ? Number.POSITIVE_INFINITY : (valueAt(place + 1) - valueAt(place - 1)) / range;
      distances[n]! += gap / objectives;
    }
  }
  return distances;
}

/** Options of {@link paretoRewards}. */
export interface ParetoRewardsOptions extends ParetoOptions {
  /** Whether points of one front are told apart by how lonely they are. Default `'none'`. */
  readonly tieBreak?: 'none' | 'crowding' | undefined;
}

/**
 * Rewards in 0..1 by Pareto front. The reward is `1 − front / fronts`, so the first front has 1.
 *
 * With `tieBreak: 'crowding'` a point loses up to the distance to the next front: the share of its front that is less crowded
 * ({@link crowdingDistances}). Fronts never overlap, and variety pays. `null` stands for points that an
 * objective could not score. They get `null` and take no part. Shape: `[N]`.
 *
 * @throws ArgumentError for values that are not finite, and for points of different lengths.
 */
export function paretoRewards(
  points: readonly (readonly number[] | null)[],
  { tieBreak = 'none', ...options }: ParetoRewardsOptions = {},
): (number | null)[] {
  requireArguments('paretoRewards', { points: 'list' }, points);
  return overPresent(points, (scored) => {
    const rankOf = paretoRanks(scored, options);
    const fronts = Math.max(0, ...rankOf) + 1;
    const lost = tieBreak === 'none' ? rankOf.map(() => 0) : shareLonelier(scored, rankOf);
    return rankOf.map((rank, n) => 1 - (rank + lost[n]!) / fronts);
  });
}

/** For each point, the share of its front that is lonelier. */
function shareLonelier(points: ObjectivePoints, rankOf: readonly number[]): number[] {
  const shares = new Array<number>(points.length).fill(0);
  for (const rank of new Set(rankOf)) {
    const members = rankOf.flatMap((other, n) => (other === rank ? [n] : []));
    const distances = crowdingDistances(members.map((n) => points[n]!));
    for (const [place, n] of members.entries()) {
      const lonelier = distances.filter((distance) => distance > distances[place]!).length;
      shares[n] = lonelier / members.length;
    }
  }
  return shares;
}

/**
 * Euclidean distance from a point to the nearest point of a front; 0 for an empty front.
 *
 * @throws ArgumentError for values that are not finite, and for points of different lengths.
 */
export function distanceToFrontier(point: readonly number[], frontier: ObjectivePoints): number {
  requireArguments('distanceToFrontier', { point: 'numbers', frontier: 'lists' }, point, frontier);
  requirePoints('distanceToFrontier', [point, ...frontier]);
  const distances = frontier.map((other) => Math.hypot(...other.map((value, f) => value - point[f]!)));
  return distances.length === 0 ? 0 : Math.min(...distances);
}

function requirePoints(owner: string, points: ObjectivePoints): void {
  requireArguments(owner, { points: 'lists' }, points);
  for (const [n, point] of points.entries()) {
    if (point.length !== points[0]!.length) {
      throw new ArgumentError(
        `${owner}: points[${n}] must have ${points[0]!.length} objectives, as points[0], got ${point.length}`,
      );
    }
    const f = point.findIndex((value) => !Number.isFinite(value));
    if (f < 0) continue;
    throw new ArgumentError(`${owner}: points[${n}][${f}] must be a finite number, got ${String(point[f])}`);
  }
}
