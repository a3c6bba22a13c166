import { placeAfter } from '../assessor/reward-window.ts';
import type { OpinionState } from './state.ts';

/** A response's promise and score, and the batch that it is of. */
export type Pair = OpinionState['pairs'][string][number];

/** Batches before a pair counts. */
export const delayBatches = 4;
/** Pairs that are remembered, and pairs and batches before anything is judged. */
const [memory, leastPairs, leastBatches] = [2000, 32, 4];
/** Pairs around a promise that are compared, at least, and as a share of all. */
const [leastNear, nearShare] = [64, 0.2];
/** Variances of all scores that are added to the local one, and least deviation as a share of that of all scores. */
const [priorCount, leastDeviation] = [4, 0.3];
/** Variance of all promises that is added to the local one, so that promises which hardly differ have no slope. */
const ridge = 0.01;
/** Standard errors taken off a distance, and the largest distance. */
const [marginErrors, largest] = [0.75, 6];

/** Score that a promise usually earns, the deviation from it, and the relative error of both. */
interface Prediction {
  readonly score: number;
  readonly deviation: number;
  readonly error: number;
}

/** Number of pairs, means, and sums of squares and products of the distances from them. */
function sumsOf(pairs: readonly Pair[]) {
  const count = pairs.length;
  let [x, y, xx, xy, yy] = [0, 0, 0, 0, 0];
  for (const [promise, score] of pairs) {
    x += promise / count;
    y += score / count;
  }
  for (const [promise, score] of pairs) {
    xx += (promise - x) ** 2;
    xy += (promise - x) * (score - y);
    yy += (score - y) ** 2;
  }
  return { count, x, y, xx, xy, yy };
}

/**
 * What an opinion usually says of responses with such a promise, by local linear regression.
 *
 * A line through the pairs around a promise predicts the score. The distance is how many deviations a score lies below, with a margin
 * for what the pairs do not tell. Pairs count four batches later, so that a sudden change is not compared with itself.
 *
 * @see Cleveland 1979, https://doi.org/10.1080/01621459.1979.10481038
 */
export class Calibration {
  readonly #counts: readonly Pair[];
  readonly #late: readonly Pair[];
  readonly #all: ReturnType<typeof sumsOf>;
  readonly #deviation: number;
  readonly #predictions = new Map<number, Prediction>();
  readonly #isReady: boolean;

  /** @param pairs - All pairs, by promise. @param batch - Number of the batch that is judged. */
  constructor(pairs: readonly Pair[], batch: number) {
    const [counts, late]: [Pair[], Pair[]] = [[], []];
    let oldest = batch;
    for (const pair of pairs) {
      if (pair[2] < batch - delayBatches) counts.push(pair);
      else if (pair[2] >= batch - 2) late.push(pair);
      oldest = Math.min(oldest, pair[2]);
    }
    this.#counts = counts;
    this.#late = late;
    this.#all = sumsOf(counts);
    this.#deviation = Math.max(1e-6, Math.sqrt(this.#all.yy / Math.max(1, counts.length)));
    this.#isReady = counts.length >= leastPairs && batch - oldest >= delayBatches + leastBatches;
  }

  /** Deviations by which a score lies below the usual. NaN if one of the two is, or as long as there are not enough pairs. */
  below(promise: number, score: number): number {
    if (!this.#isReady) return Number.NaN;
    const found = this.#predictions.get(promise) ?? this.#predicted(promise);
    this.#predictions.set(promise, found);
    const distance = (found.score - score) / (found.deviation * (1 + found.error / 2));
    return Math.max(-largest, Math.min(largest, distance - marginErrors * found.error));
  }

  /** By how many standard errors these scores and those of the last two batches lie below earlier ones, whatever was promised. */
  fall(scores: readonly number[]): number {
    const finite = scores.filter((score) => Math.abs(score) < 1e100);
    const alone = finite.map((score): Pair => [0, score, 0]);
    const [before, now] = [this.#all, sumsOf([...this.#late, ...alone])];
    if (before.count === 0 || now.count === 0) return 0;
    return (before.y - now.y) / (this.#deviation * Math.sqrt(1 / before.count + 1 / now.count));
  }

  #predicted(promise: number): Prediction {
    const near = this.#around(promise);
    const { count, x, y, xx, xy, yy } = sumsOf(near);
    const spread = xx + (count * ridge * this.#all.xx) / this.#all.count + 1e-12;
    const slope = xy / spread;
    const distance = Math.max(near[0]![0], Math.min(near.at(-1)![0], promise)) - x;
    const rest = Math.max(0, yy - slope * xy);
    const variance = (rest + priorCount * this.#deviation ** 2) / (count + priorCount);
    return {
      score: y + slope * distance,
      deviation: Math.max(leastDeviation * this.#deviation, Math.sqrt(variance)),
      error: Math.sqrt(1 / count + distance ** 2 / spread),
    };
  }

  /** The nearest pairs, and all with the same promise. */
  #around(promise: number): readonly Pair[] {
    const all = this.#counts;
    const wanted = Math.min(all.length, Math.max(leastNear, Math.floor(nearShare * all.length)));
    const distanceOf = (at: number) => Math.abs(all[at]![0] - promise);
    const first = placeAfter(all.length, (at) => all[at]![0] < promise);
    let start = Math.max(0, first - wanted);
    // The window moves to the right while that takes in no farther pair than it leaves out.
    while (start + wanted < all.length && distanceOf(start + wanted) <= distanceOf(start)) start += 1;
    let end = start + wanted;
    while (end < all.length && distanceOf(end) === 0) end += 1;
    while (start > 0 && distanceOf(start - 1) === 0) start -= 1;
    return all.slice(start, end);
  }
}

/** The pairs with those of a batch, by promise. The oldest batches make room. */
export function withPairs(pairs: readonly Pair[], added: readonly Pair[]): Pair[] {
  const finite = added.filter(([promise, score]) => Math.abs(promise) < 1e100 && Math.abs(score) < 1e100);
  let all = [...pairs, ...finite].sort(([first], [second]) => first - second);
  while (all.length > memory) {
    const oldest = all.reduce((least, [, , batch]) => Math.min(least, batch), Infinity);
    all = all.filter(([, , batch]) => batch > oldest);
  }
  return all;
}
