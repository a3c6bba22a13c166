import { requireArguments, requireFields } from '@rlp/core';

/** Points of a metric, in the order of their steps. */
export interface Curve {
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

/**
 * At most `most` points that look the same: the first, the last, and the least and greatest of each stretch between.
 *
 * @param most - Maximum points, at least 4. Default 1000: more than a chart has pixels.
 */
export function thinned(inputs: Curve, most = 1000): Curve {
  requireArguments('thinned', { most: 'number?' }, most);
  requireFields('thinned', { steps: 'numbers', values: 'numbers' }, inputs);
  const { steps, values } = inputs;
  const count = steps.length;
  if (count <= most) return { steps, values };
  const buckets = Math.max(1, Math.floor((most - 2) / 2));
  const kept = [0];
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = 1 + Math.floor((bucket * (count - 2)) / buckets);
    const to = 1 + Math.floor(((bucket + 1) * (count - 2)) / buckets);
    const [low, high] = extremes(values, from, to);
    kept.push(Math.min(low, high));
    if (low !== high) kept.push(Math.max(low, high));
  }
  kept.push(count - 1);
  return { steps: kept.map((at) => steps[at]!), values: kept.map((at) => values[at]!) };
}

/** Places of the least and the greatest value. */
function extremes(values: readonly number[], from: number, to: number): readonly [number, number] {
  let low = from;
  let high = from;
  for (let at = from + 1; at < to; at++) {
    if (values[at]! < values[low]!) low = at;
    if (values[at]! > values[high]!) high = at;
  }
  return [low, high];
}

/**
 * Exponentially weighted means of a curve, corrected for their start: $m_t = βm_{t-1} + (1-β)x_t$, divided by $1-β^t$.
 *
 * @param weight - β, from 0 (the curve itself) to below 1.
 * @see Kingma and Ba, 2015, section 3 for the correction.
 */
export function smoothed(values: readonly number[], weight: number): readonly number[] {
  let mean = 0;
  let share = 1;
  return values.map((value) => {
    mean = weight * mean + (1 - weight) * value;
    share *= weight;
    return mean / (1 - share);
  });
}

/** The value of a curve at `x`, on the straight line between its neighbours. `undefined` outside of it. */
function valueAt({ steps, values }: Curve, x: number): number | undefined {
  const last = steps.length - 1;
  if (last < 0 || x < steps[0]! || x > steps[last]!) return undefined;
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (steps[middle]! <= x) low = middle;
    else high = middle;
  }
  const [a, b] = [steps[low]!, steps[high]!];
  const share = b === a ? 1 : (x - a) / (b - a);
  return values[low]! + share * (values[high]! - values[low]!);
}

/** A curve over another quantity, such as tokens: each step is replaced by what had been spent by then. */
export function over(curve: Curve, spent: Curve | undefined): Curve {
  if (spent === undefined) return { steps: [], values: [] };
  const points = curve.steps.flatMap((step, at) => {
    const x = valueAt(spent, step);
    return x === undefined ? [] : [{ x, value: curve.values[at]! }];
  });
  return { steps: points.map(({ x }) => x), values: points.map(({ value }) => value) };
}

/** Positions at which all curves are drawn: those of all points, or a grid if they are too many. The grid is coarser for curves with few points. */
export function positions(curves: readonly Curve[]): readonly number[] {
  const longest = Math.max(...curves.map(({ steps }) => steps.length));
  const most = Math.min(4000, Math.max(1000, 4 * longest));
  const all = new Set(curves.flatMap(({ steps }) => steps));
  const sorted = [...all].sort((a, b) => a - b);
  if (sorted.length <= most) return sorted;
  const [first, last] = [sorted[0]!, sorted.at(-1)!];
  return Array.from({ length: most }, (_, at) => first + ((last - first) * at) / (most - 1));
}

/** The curve at each position. `null` outside of it. */
export function drawnAt(curve: Curve, xs: readonly number[]): readonly (number | null)[] {
  return xs.map((x) => valueAt(curve, x) ?? null);
}

/** Mean, least and greatest of several curves at each position, where any of them is. */
export interface Band {
  readonly mean: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** The band of several curves. */
export function bandOf(curves: readonly Curve[], xs: readonly number[]): Band {
  const drawn = curves.map((curve) => drawnAt(curve, xs));
  const at = (measure: (values: readonly number[]) => number) =>
    xs.map((_, place) => {
      const values = drawn.map((values) => values[place]!).filter((value) => value !== null);
      return values.length === 0 ? null : measure(values);
    });
  return {
    mean: at((values) => values.reduce((sum, value) => sum + value, 0) / values.length),
    low: at((values) => Math.min(...values)),
    high: at((values) => Math.max(...values)),
  };
}
