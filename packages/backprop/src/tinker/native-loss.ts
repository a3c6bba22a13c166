import type { Loss } from '@rlp/core';
import { evaluate, type Matrix, matrixFromRows } from '@rlp/tensor';

/**
 * A loss that Tinker's servers compute themselves. `r = exp(ln π − anchor)`, `A` is an advantage.
 *
 * | name | derivative by `ln π` |
 * |---|---|
 * | `cross_entropy` | `−A` |
 * | `importance_sampling` | `−A·r` |
 * | `ppo` | `−A·r`, and 0 where `A > 0` and `r > high`, or `A < 0` and `r < low` |
 * | `cispo` | `−A·clip(r, low, high)` |
 */
export interface NativeLoss {
  readonly name: 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo';
  /** Column with the logprobs that the ratio is taken to. `undefined` if there is no ratio. */
  readonly anchor: string | undefined;
  readonly low: number;
  readonly high: number;
}

type Bounds = Pick<NativeLoss, 'low' | 'high'>;

const factors: Readonly<Record<NativeLoss['name'], (ratio: number, sign: number, bounds: Bounds) => number>> =
  {
    cross_entropy: () => 1,
    importance_sampling: (ratio) => ratio,
    ppo: (ratio, sign, { low, high }) => ((sign > 0 ? ratio > high : ratio < low) ? 0 : ratio),
    cispo: (ratio, _, { low, high }) => Math.min(high, Math.max(low, ratio)),
  };

/** The derivative by a logprob that is `logRatio` above its anchor. `slope` is the one at the anchor, `−A`. */
export function slopeAt(native: NativeLoss, slope: number, logRatio: number): number {
  return slope * factors[native.name](Math.exp(logRatio), -slope, native);
}

/** Settings of a native loss, as a server reads them. */
export function configOf({ name, low, high }: NativeLoss): Record<string, number> {
  return name === 'ppo' || name === 'cispo' ? { clip_low_threshold: low, clip_high_threshold: high } : {};
}

/** A bound that no ratio reaches. */
export const unbounded = 1e9;
/** Beyond this log-ratio, losses may limit ratios and are still taken as equal. */
const farthest = 12;

/**
 * The native loss with the derivatives of `loss`, or `undefined`. Looks at derivatives, so the name of the loss does not matter. Reads bounds
 * off them too.
 */
export function nativeLossOf(loss: Loss): NativeLoss | undefined {
  if (loss.entropies === 'needed' || (loss.values ?? 'none') !== 'none') return undefined;
  try {
    return candidatesOf(loss).find((candidate) => hasSlopesOf(loss, candidate));
  } catch {
    return undefined;
  }
}

function candidatesOf(loss: Loss): NativeLoss[] {
  const open = { low: 0, high: unbounded };
  const plain: NativeLoss = { name: 'cross_entropy', anchor: undefined, ...open };
  const anchored = loss.columns.filter((name) => /logprobs$/i.test(name));
  return [plain, ...anchored.flatMap((anchor) => anchoredCandidates(loss, anchor))];
}

function anchoredCandidates(loss: Loss, anchor: string): NativeLoss[] {
  const factor = (logRatio: number, advantage: number) => factorOf(loss, anchor, logRatio, advantage);
  const clipped = {
    low: factor(-farthest, 1) > 1.01 * Math.exp(-farthest) ? tidy(factor(-farthest, 1)) : 0,
    high: factor(farthest, 1) < 0.99 * Math.exp(farthest) ? tidy(factor(farthest, 1)) : unbounded,
  };
  const dropped = {
    low: edgeOf((logRatio) => factor(logRatio, -1) !== 0, -farthest) ?? 0,
    high: edgeOf((logRatio) => factor(logRatio, 1) !== 0, farthest) ?? unbounded,
  };
  return [
    { name: 'importance_sampling', anchor, low: 0, high: unbounded },
    { name: 'ppo', anchor, ...dropped },
    { name: 'cispo', anchor, ...clipped },
  ];
}

/** The derivative for one token, as a multiple of that at ratio 1. */
function factorOf(loss: Loss, anchor: string, logRatio: number, advantage: number): number {
  const slope = (distance: number) => {
    const column = (name: string) =>
      name === anchor ? -30 - farthest : name === 'advantages' ? advantage : 1;
    const columns = Object.fromEntries(loss.columns.map((name) => [name, matrixFromRows([[column(name)]])]));
    const one = matrixFromRows([[1]]);
    const logprobs = matrixFromRows([[-30 - farthest + distance]]);
    return evaluate(loss, { logprobs, mask: one, weights: one, columns }).gradients.logprobs.data[0]!;
  };
  return slope(logRatio) / slope(0);
}

/** The ratio at which `holds`, true at ratio 1, becomes false on the way to a log-ratio. `undefined` if it never does. */
function edgeOf(holds: (logRatio: number) => boolean, end: number): number | undefined {
  if (holds(end)) return undefined;
  let [inside, outside] = [0, end];
  for (let halving = 0; halving < 60; halving++) {
    const middle = (inside + outside) / 2;
    if (holds(middle)) inside = middle;
    else outside = middle;
  }
  return tidy(Math.exp(inside));
}

/** Without the rounding of logarithms. */
const tidy = (value: number) => Number(value.toPrecision(12));

/** Whether the derivatives agree on rows of many tokens, with ratios on both sides of the bounds. */
function hasSlopesOf(loss: Loss, native: NativeLoss): boolean {
  const [rows, length] = [4, 48];
  const matrix = (of: (b: number, t: number) => number) =>
    matrixFromRows(Array.from({ length: rows }, (_, b) => Array.from({ length }, (_, t) => of(b, t))));
  const mask = matrix((b, t) => ((b + t) % 7 === 6 ? 0 : 1));
  const weights = matrix((b, t) => 0.1 + spread(b * length + t, 1));
  const logRatios = matrix((b, t) => {
    const reach = [0.1, 0.5, 2, farthest][(b + t) % 4]!;
    return reach * (2 * spread(b * length + t, 2) - 1);
  });
  const anchors = matrix((b, t) => -farthest - 20 * spread(b * length + t, 3));
  const columns = Object.fromEntries(
    loss.columns.map((name, index) => {
      const column = (b: number, t: number) => {
        const value = spread(b * length + t, 4 + index);
        if (name === 'advantages') return 4 * value - 2;
        return /logprobs$/i.test(name) ? -farthest - 20 * value : 0.5 + value;
      };
      return [name, name === native.anchor ? anchors : matrix(column)];
    }),
  );
  const slopes = (logprobs: Matrix) =>
    evaluate(loss, { logprobs, mask, weights, columns }).gradients.logprobs.data;
  const moved = matrixOf(anchors, (anchor, i) => anchor + logRatios.data[i]!);
  const [atAnchor, got] = [slopes(anchors), slopes(moved)];
  return got.every((slope, i) => {
    const expected = slopeAt(native, atAnchor[i]!, logRatios.data[i]!);
    return Math.abs(slope - expected) <= 1e-9 * Math.max(1e-3, Math.abs(expected));
  });
}

function matrixOf({ rows, columns, data }: Matrix, of: (value: number, index: number) => number): Matrix {
  const row = (b: number) => Array.from(data.subarray(b * columns, (b + 1) * columns));
  return matrixFromRows(
    Array.from({ length: rows }, (_, b) => row(b).map((value, t) => of(value, b * columns + t))),
  );
}

/** Numbers from 0 to 1 that lie evenly, others for each `kind`. */
const spread = (index: number, kind: number) =>
  ((index + 1) * Math.sqrt([2, 3, 5, 7, 11, 13, 17, 19, 23][kind % 9]!) + kind / 7) % 1;
