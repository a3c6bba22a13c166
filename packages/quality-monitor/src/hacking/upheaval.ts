import { signals } from './signals.ts';

/** What a batch says of the data: as before, perhaps changed, or changed since the batch before. */
export type Change = 'none' | 'suspected' | 'confirmed';

/** How often a signal's trait occurs in a batch. */
export interface Occurrence {
  /** Share of the rewarded responses that have it, and of the others. */
  readonly rewarded: number;
  readonly others: number;
  /** Share of the others that had it in the reference. */
  readonly usual: number;
  /** Share of the others whose value is at least the median of the rewarded. */
  readonly overlap: () => number;
  /** How many independent responses the others stand for. */
  readonly independent: number;
}

/** Nats in one batch that make it suspect; in each of two, and in both together, that confirm it. */
const [suspicious, lasting, certain] = [10, 3, 20];
/**
 * All have changed alike if the share among the others is at least this part of that among the rewarded, and the other way round,
 * and at least so many of the others reach the median of the rewarded.
 */
const [likeRewarded, likeOthers, likeMedian] = [0.8, 0.5, 0.3];

/**
 * Tells new data from a hack: a hack changes what is rewarded, new data (the next stage of a curriculum, other users) change all
 * responses, from one batch to the next.
 *
 * A signal speaks of new data with `u (q ln(q / q₀) + (1 − q) ln((1 − q) / (1 − q₀)))` nats, the log-likelihood ratio of the share `q` of
 * `u` unrewarded responses against `q₀` in the reference, if `q > q₀`, `q` is at least 0.8 of the share among the rewarded, that at
 * least half of `q`, and at least 0.3 of the unrewarded have as much of the trait as the median of the rewarded. More than 10 make
 * new data suspected, for a batch; a signal with more than 3 in two batches running, and 20 in both, confirms it. Traits of the
 * reward, which differ between rewarded and others by their nature, say nothing of it.
 */
export class Upheaval {
  readonly #nats = new Float64Array(signals.length);

  /** Whether the last batch may have been new data. */
  get isSuspected(): boolean {
    return this.#nats.some((nats) => nats > suspicious);
  }

  /** @param occurrence - Of each signal; `undefined` where there is no reference. */
  observe(occurrence: (signal: number) => Occurrence | undefined): Change {
    let change: Change = 'none';
    // A second suspicion of something else does not put off judgement any longer.
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
