import { RandomStream } from '@rlp/core';
import { twoSidedQuantile } from './distributions.ts';
import { wilsonInterval } from './intervals.ts';

/** Tasks by whether the first and the second response are right. */
export interface PairedCounts {
  readonly both: number;
  readonly onlyFirst: number;
  readonly onlySecond: number;
  readonly neither: number;
}

/**
 * Newcombe's interval of the difference `second − first` of two shares of the same tasks: Wilson's intervals of both, joined with the
 * correlation of the pairs. It has a width if all pairs agree.
 *
 * @see Newcombe 1998, https://doi.org/10.1002/(SICI)1097-0258(19981130)17:22%3C2635::AID-SIM954%3E3.0.CO;2-C (method 10)
 */
export function newcombeInterval(counts: PairedCounts, confidence: number): readonly [number, number] {
  const { both, onlyFirst, onlySecond, neither } = counts;
  const tasks = both + onlyFirst + onlySecond + neither;
  const z = twoSidedQuantile(confidence, Infinity);
  const [first, second] = [both + onlyFirst, both + onlySecond].map((right) => {
    const share = right / tasks;
    const [low, high] = wilsonInterval(share, tasks, z);
    return { share, below: share - low, above: high - share };
  }) as [Bounds, Bounds];
  const correlation = correlationOf(counts, tasks);
  const joined = (a: number, b: number) => Math.sqrt(Math.max(0, a ** 2 - 2 * correlation * a * b + b ** 2));
  const difference = second.share - first.share;
  return [difference - joined(second.below, first.above), difference + joined(second.above, first.below)];
}

/** A share, and how far its interval reaches. */
interface Bounds {
  readonly share: number;
  readonly below: number;
  readonly above: number;
}

/** Correlation of the pairs, with a correction for continuity if it is positive. 0 if one side is always the same. */
function correlationOf({ both, onlyFirst, onlySecond, neither }: PairedCounts, tasks: number): number {
  const product = (both + onlyFirst) * (onlySecond + neither) * (both + onlySecond) * (onlyFirst + neither);
  if (product === 0) return 0;
  const excess = both * neither - onlyFirst * onlySecond;
  return (excess > 0 ? Math.max(0, excess - tasks / 2) : excess) / Math.sqrt(product);
}

/** How differences are resampled. */
export interface BootstrapOptions {
  readonly confidence: number;
  readonly resamples: number;
  readonly seed: string;
}

/** Percentiles of the mean of resampled differences. `undefined` if all are equal, which says nothing of their spread. */
export function bootstrapInterval(
  differences: readonly number[],
  { confidence, resamples, seed }: BootstrapOptions,
): readonly [number, number] | undefined {
  if (differences.every((difference) => difference === differences[0])) return undefined;
  const stream = RandomStream.named(seed, 'bootstrap');
  const { length } = differences;
  const means = Float64Array.from({ length: resamples }, () => {
    let sum = 0;
    // One draw chooses two tasks: its digits after the first choice are as random.
    for (let drawn = 0; drawn < length; drawn += 2) {
      const place = stream.uniform() * length;
      sum += differences[Math.floor(place)]!;
      if (drawn + 1 < length) sum += differences[Math.floor((place % 1) * length)]!;
    }
    return sum / length;
  }).sort();
  const at = (fraction: number) => means[Math.round(fraction * (resamples - 1))]!;
  return [at((1 - confidence) / 2), at((1 + confidence) / 2)];
}
