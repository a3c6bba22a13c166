import { signals } from './signals.ts';

/** Whether the data changed: not, perhaps in this batch, or since the batch before. */
export type Change = 'none' | 'suspected' | 'confirmed';

/** Frequency of a signal's trait in a batch. */
export interface Occurrence {
  /** Share of the rewarded responses with the trait. */
  readonly rewarded: number;
  /** Share of the unrewarded responses. */
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
 */
export class DistributionShift {
  readonly #nats = new Float64Array(signals.length);

  /** Whether the last batch may be new data. */
  get isSuspected(): boolean {
    return this.#nats.some((nats) => nats > suspicious);
  }

  /** @param occurrence - Returns `undefined` for a signal without a reference. */
  observe(occurrence: (signal: number) => Occurrence | undefined): Change {
    let change: Change = 'none';
    // Judgement waits for one batch only.
    const wasSuspected = this.isSuspected;
    for (const [at, { tail }] of signals.entries()) {
      const seen = tail === 'present' ? undefined : occurrence(at);
      const nats = seen === undefined ? 0 : natsOf(seen);
      const before = this.#nats[at]!;
      if (Math.min(nats, before) > lasting && nats + before > certain) change = 'confirmed';
      else if (nats > suspicious && change === 'none' && !wasSuspected) change = 'suspected';
      this.#nats[at] = nats;
    }
    return change;
  }

  /** Forgets the last batch. */
  forget(): void {
    this.#nats.fill(0);
  }

  saveState(): readonly number[] {
    return [...this.#nats];
  }

  loadState(nats: readonly number[]): void {
    this.#nats.set(nats);
  }
}

function natsOf({ rewarded, others, usual, independent, overlap }: Occurrence): number {
  if (others <= usual || others < likeRewarded * rewarded || rewarded < likeOthers * others) return 0;
  const without = others < 1 ? (1 - others) * Math.log((1 - others) / (1 - usual)) : 0;
  const nats = independent * (others * Math.log(others / usual) + without);
  return nats > lasting && overlap() < likeMedian ? 0 : nats;
}
