import { signals } from './signals.ts';

/** Whether the data changed: not, perhaps in this batch, or since the batch before. */
export type Change = 'none' | 'suspected' | 'confirmed';

/** Frequency of a signal's trait in a batch. */
export interface Occurrence {
  /** Shares of the rewarded and of the unrewarded responses with the trait. */
  readonly rewarded: number;
  readonly others: number;
  /** Share of the unrewarded responses in the reference. */
  readonly usual: number;
  /** Share of the unrewarded responses that reach the median of the rewarded. */
  readonly overlap: () => number;
  /** Effective number of unrewarded responses. */
  readonly independent: number;
}

/** Nats in one batch to suspect a shift; in each of two batches, and in both together, to confirm it. */
const [suspicious, lasting, certain] = [10, 3, 20];
/** Least ratios of the two shares, and least share of unrewarded responses that reach the rewarded median. */
const [likeRewarded, likeOthers, likeMedian] = [0.8, 0.5, 0.3];

/** Whether the last batch may be new data, by its nats. */
export function isShiftSuspected(nats: Float64Array): boolean {
  return nats.some((ofSignal) => ofSignal > suspicious);
}

/**
 * Detects new data, such as another stage of a curriculum. A hack changes rewarded responses. New data change all of them.
 *
 * The evidence of a signal is `u (q ln(q / q₀) + (1 − q) ln((1 − q) / (1 − q₀)))` nats. Here `q` is the share of the `u` unrewarded
 * responses, and `q₀` that in the reference. It counts if all of these hold:
 *
 * - `q > q₀`,
 * - `q` is at least 0.8 of the share among the rewarded, and that at least half of `q`,
 * - 0.3 of the unrewarded responses reach the median of the rewarded.
 *
 * More than 10 nats make a shift suspected for one batch. More than 3 in two successive batches and 20 in both confirm it. Traits
 * of the reward do not count.
 *
 * @param nats - Evidence of the batch before. Replaced by that of this batch. Shape: `[signals]`.
 * @param occurrence - Returns `undefined` for a signal without a reference.
 */
export function distributionChange(
  nats: Float64Array,
  occurrence: (signal: number) => Occurrence | undefined,
): Change {
  let change: Change = 'none';
  // Judgement waits for one batch only.
  const wasSuspected = isShiftSuspected(nats);
  for (const [at, { tail }] of signals.entries()) {
    const seen = tail === 'present' ? undefined : occurrence(at);
    const now = seen === undefined ? 0 : natsOf(seen);
    const before = nats[at]!;
    if (Math.min(now, before) > lasting && now + before > certain) change = 'confirmed';
    else if (now > suspicious && change === 'none' && !wasSuspected) change = 'suspected';
    nats[at] = now;
  }
  return change;
}

function natsOf({ rewarded, others, usual, independent, overlap }: Occurrence): number {
  if (others <= usual || others < likeRewarded * rewarded || rewarded < likeOthers * others) return 0;
  const without = others < 1 ? (1 - others) * Math.log((1 - others) / (1 - usual)) : 0;
  const nats = independent * (others * Math.log(others / usual) + without);
  return nats > lasting && overlap() < likeMedian ? 0 : nats;
}
