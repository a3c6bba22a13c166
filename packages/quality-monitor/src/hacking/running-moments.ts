import type { DetectorState } from './state.ts';

/** Squares of smaller numbers are finite. */
const largest = 1e100;

/** Mean and mean square of the last values, and their number, limited by the memory. */
export type Moments = DetectorState['rewards']['reward'];

export function deviationOf({ mean, square }: Moments): number {
  return Math.sqrt(Math.max(0, square - mean ** 2));
}

/** Adds a batch's values. Older batches fade. Values that are not finite or extremely large are skipped. */
export function addTo(moments: Moments, values: readonly number[], memory: number): void {
  const finite = values.filter((value) => Math.abs(value) < largest);
  if (finite.length === 0) return;
  const mean = finite.reduce((sum, value) => sum + value / finite.length, 0);
  const square = finite.reduce((sum, value) => sum + (value * value) / finite.length, 0);
  const before = Math.min(moments.weight, memory);
  const part = finite.length / (before + finite.length);
  moments.mean += part * (mean - moments.mean);
  moments.square += part * (square - moments.square);
  moments.weight = before + finite.length;
}
