/** Sums of `n` pairs: `[n, Σx, Σy, Σx², Σxy, Σy²]`. */
export type PairSums = Float64Array<ArrayBufferLike>;

/** Larger values are left out, because their squares are not finite. */
const largest = 1e100;

export function newPairSums(): Float64Array<ArrayBuffer> {
  return new Float64Array(6);
}

/** Adds pairs. Older ones fade, so that at most `memory` count. Pairs that are not finite are skipped. */
export function addPairs(sums: PairSums, xs: readonly number[], ys: readonly number[], memory: number): void {
  const added = new Float64Array(6);
  for (let at = 0; at < xs.length; at++) {
    const [x, y] = [xs[at]!, ys[at]!];
    if (!(Math.abs(x) < largest && Math.abs(y) < largest)) continue;
    for (const [place, value] of [1, x, y, x * x, x * y, y * y].entries()) added[place]! += value;
  }
  const kept = Math.min(1, memory / Math.max(1, sums[0]! + added[0]!));
  for (let place = 0; place < 6; place++) sums[place] = kept * (sums[place]! + added[place]!);
}

/** How many standard errors the mean of the `y` lies above `[n, Σy]` of recent ones. */
export function standardErrorsAbove(
  [n = 0, , y = 0, , , yy = 0]: PairSums,
  [recentCount, recentSum]: readonly [number, number],
): number {
  if (n < 1 || recentCount < 1) return 0;
  const deviation = Math.sqrt(Math.max(0, yy / n - (y / n) ** 2));
  return (y / n - recentSum / recentCount) / Math.max(1e-9, deviation * Math.sqrt(1 / n + 1 / recentCount));
}

/** The line of least squares through pairs. */
export interface LineFit {
  readonly slope: number;
  /** Value on the line at `x`. */
  at(x: number): number;
  /** Standard deviation of the pairs from the line. */
  readonly deviation: number;
}

export function lineOf([n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0]: PairSums): LineFit {
  const count = Math.max(1, n);
  const [meanX, meanY] = [x / count, y / count];
  const [variance, covariance] = [xx / count - meanX ** 2, xy / count - meanX * meanY];
  const slope = variance > 1e-9 * (1 + meanX ** 2) ? covariance / variance : 0;
  const rest = Math.max(0, yy / count - meanY ** 2 - slope * covariance);
  return { slope, at: (place) => meanY + slope * (place - meanX), deviation: Math.sqrt(rest) };
}
