import { meanOf, placeAfter } from '../assessor/reward-window.ts';
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
const bounded = (distance: number) => Math.max(-largest, Math.min(largest, distance));

/** Score that a promise usually earns, deviation from it, relative error of both, distances of the pairs around it, and `usual` by `fall`. */
interface Prediction {
  readonly score: number;
  readonly deviation: number;
  readonly error: number;
  readonly distances: readonly number[];
  readonly usual: Record<number, number>;
}

/** Number of pairs, means, and sums of squares and products of the distances from them. */
function sumsOf(pairs: readonly Pair[]) {
  const x = meanOf(pairs.map(([promise]) => promise));
  const y = meanOf(pairs.map(([, score]) => score));
  let [xx, xy, yy] = [0, 0, 0];
  for (const [promise, score] of pairs) {
    xx += (promise - x) ** 2;
    xy += (promise - x) * (score - y);
    yy += (score - y) ** 2;
  }
  return { count: pairs.length, x, y, xx, xy, yy };
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
    const oldest = pairs.reduce((least, [, , added]) => Math.min(least, added), batch);
    this.#counts = pairs.filter(([, , added]) => added < batch - delayBatches);
    this.#late = pairs.filter(([, , added]) => added >= batch - 2);
    this.#all = sumsOf(this.#counts);
    this.#deviation = Math.max(1e-6, Math.sqrt(this.#all.yy / Math.max(1, this.#all.count)));
    this.#isReady = this.#all.count >= leastPairs && batch - oldest >= delayBatches + leastBatches;
  }

  /** Deviations by which a score lies below the usual. NaN if one of the two is, or as long as there are not enough pairs. */
  below(promise: number, score: number): number {
    if (!this.#isReady) return Number.NaN;
    const { score: usual, deviation, error } = this.#predicted(promise);
    return bounded((usual - score) / (deviation * (1 + error / 2)) - marginErrors * error);
  }

  /** Logarithm of the mean of `exp(fall · distance)` around a promise, at least that of normal distances. */
  usual(promise: number, fall: number): number {
    const { distances, usual } = this.#predicted(promise);
    usual[fall] ??= Math.log(meanOf(distances.map((one) => Math.exp(fall * one))));
    return Math.max(fall ** 2 / 2, usual[fall]);
  }

  /** By how many standard errors these scores and those of the last two batches lie below earlier ones, whatever was promised. */
  fall(scores: readonly number[]): number {
    const alone = scores.filter((score) => Math.abs(score) < 1e100).map((score): Pair => [0, score, 0]);
    const [before, now] = [this.#all, sumsOf([...this.#late, ...alone])];
    if (before.count === 0 || now.count === 0) return 0;
    return (before.y - now.y) / (this.#deviation * Math.sqrt(1 / before.count + 1 / now.count));
  }

  #predicted(promise: number): Prediction {
    const known = this.#predictions.get(promise);
    if (known !== undefined) return known;
    const near = this.#around(promise);
    const { count, x, y, xx, xy, yy } = sumsOf(near);
    const spread = xx + (count * ridge * this.#all.xx) / this.#all.count + 1e-12;
    const slope = xy / spread;
    const distance = Math.max(near[0]![0], Math.min(near.at(-1)![0], promise)) - x;
    const rest = Math.max(0, yy - slope * xy);
    const variance = (rest + priorCount * this.#deviation ** 2) / (count + priorCount);
    const deviation = Math.max(leastDeviation * this.#deviation, Math.sqrt(variance));
    const error = Math.sqrt(1 / count + distance ** 2 / spread);
    const distances = near.map(([other, score]) => bounded((y + slope * (other - x) - score) / deviation));
    const prediction = { score: y + slope * distance, deviation, error, distances, usual: {} };
    this.#predictions.set(promise, prediction);
    return prediction;
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
