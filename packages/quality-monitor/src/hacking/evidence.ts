import { DesignEffect } from './design-effect.ts';
import { type Change, distributionChange, isShiftSuspected } from './distribution-shift.ts';
import type { BatchRows, Reference } from './reference.ts';
import { firstSignals, type Signal, shifts, signals, type Trait, traits, unknown } from './signals.ts';
import type { DetectorState } from './state.ts';

/** Evidence of one signal. */
export interface Detection {
  readonly signal: number;
  readonly name: string;
  readonly meaning: string;
  /** Accumulated nats, 0 and up. */
  readonly evidence: number;
  /** Share of recent rewarded responses with the trait. */
  readonly share: number;
  /** Share of rewarded responses with the trait in the reference. */
  readonly usualShare: number;
}

interface Hits {
  readonly hits: Float64Array;
  readonly count: number;
  /** Sum of the rewarded responses' squared weights. */
  readonly squares: number;
  readonly hitsOfOthers: Float64Array;
  readonly others: number;
}

const width = traits.length;
/** Lower bound on the expected share of a trait. */
const leastShare = 0.01;
/** Standard errors added to the share in the reference. */
const marginErrors = 1.5;
/** Least correlation of the responses in a batch. */
const batchCorrelation = 0.02;
/** Weights that recent counts keep per batch: of rewarded, and of unrewarded responses, which must react faster. */
const [fading, fadingOfOthers] = [0.8, 0.6];
/** Pseudo-count of unrewarded responses, distributed as in the reference. */
const pseudoCount = 8;
/** Clean responses assumed in the reference of a trait that clean text hardly has. */
const assumedClean = 200;
/** Lower bound on shares that odds are computed from. */
const leastCompared = 0.005;

/**
 * Cumulative sums of likelihood ratios for the traits of rewarded responses.
 *
 * Of the `n` rewarded responses of a batch, counted by their weights, `k` have the trait of a signal. Then
 *
 *     S ← min(2h, max(0, S + (k ln(p₁ / p₀) + (n − k) ln((1 − p₁) / (1 − p₀))) / φ))
 *
 * - `p₀`: expected share. It is the share in the reference plus a margin, or higher if the odds rose among unrewarded responses.
 * - `p₁`: `p₀ + 0.2 (1 − p₀)`. A second sum uses 0.4. The larger sum counts.
 * - `φ ≥ (1 + 0.02 n) d`: overdispersion between batches, with the {@link DesignEffect} `d` of the tasks.
 *
 * With exact `p₀` and `φ`, the mean number of batches between false alarms of one sum is at least `eʰ`. Weights of at most 1 do
 * not increase it.
 *
 * @see Page 1954, https://doi.org/10.1093/biomet/41.1-2.100
 * @see Lorden 1971, https://doi.org/10.1214/aoms/1177693055
 */
export class Evidence {
  readonly #limit: number;
  readonly #reference: Reference;
  readonly #state: DetectorState['evidence'];
  readonly #designEffect: DesignEffect;
  /** First bin that counts for each signal. */
  readonly thresholds = new Uint8Array(signals.length);

  /** @param limit - `h`, the nats of an alarm. */
  constructor(limit: number, reference: Reference, state: DetectorState['evidence']) {
    this.#limit = limit;
    this.#reference = reference;
    this.#state = state;
    this.#designEffect = new DesignEffect(state.designEffect);
  }

  /** Sets the thresholds for the next batch. */
  prepare(): void {
    for (const [trait, { tails, least }] of (traits as readonly Trait[]).entries()) {
      const found = tails === 'present' ? [1] : this.#reference.thresholds(trait, tails, least);
      this.thresholds.set(found, firstSignals[trait]);
    }
  }

  /** Adds a batch's evidence. @returns Whether the distribution of all responses shifted. */
  gather(batch: BatchRows): Change {
    const found = this.#countHits(batch);
    const { hits, count, hitsOfOthers, others } = found;
    if (count === 0) return 'none';
    const state = this.#state;
    // The batch before waited to be judged with this one and counts in full.
    const isJudgedTogether = isShiftSuspected(state.shift);
    this.#designEffect.setPrior(batch.clusters, batch.weights);
    state.unrewardedCount = fadingOfOthers * state.unrewardedCount + others;
    state.recentCount = fading * state.recentCount + count;
    for (const [at, signal] of signals.entries()) {
      state.unrewarded[at] = fadingOfOthers * state.unrewarded[at]! + hitsOfOthers[at]!;
      state.recent[at] = fading * state.recent[at]! + hits[at]!;
      if (!this.#isArmed(signal)) continue;
      const before = this.#expected(at);
      const dispersion = this.#dispersionOf(at, count);
      for (const [place, shift] of shifts.entries()) {
        const sums = state.sums[place]!;
        const after = before + shift * (1 - before);
        const gain =
          hits[at]! * Math.log(after / before) + (count - hits[at]!) * Math.log((1 - after) / (1 - before));
        const least = isJudgedTogether ? sums[at]! : 0;
        sums[at] = Math.min(2 * this.#limit, Math.max(least, sums[at]! + gain / dispersion));
      }
    }
    return distributionChange(state.shift, (at) => {
      const signal = signals[at]!;
      if (others === 0 || !this.#isArmed(signal)) return undefined;
      return {
        rewarded: hits[at]! / count,
        others: hitsOfOthers[at]! / others,
        usual: this.#usual(at).others,
        overlap: () => overlap(batch, signal.trait),
        independent: others / this.#dispersionOf(at, others),
      };
    });
  }

  /**
   * Learns the dispersion of the signals between batches and between tasks from a batch of the reference.
   *
   * @param marks - 1 for each trait to learn.
   */
  learnDispersion(batch: BatchRows, marks: Uint8Array): void {
    this.prepare();
    const { hits, count, squares } = this.#countHits(batch);
    if (count < 2) return;
    const { dispersion, dispersionBatches } = this.#state;
    const clusters = this.#countClusters(batch);
    for (const [at, { trait }] of signals.entries()) {
      if (marks[trait] !== 1 || !this.#reference.isReady(trait)) continue;
      const share = this.#usual(at).rewarded;
      const variance = squares * share * (1 - share);
      const squared = (hits[at]! - count * share) ** 2 / Math.max(variance, 0.5);
      dispersionBatches[at] = 0.98 * dispersionBatches[at]! + 1;
      dispersion[at] = 0.98 * dispersion[at]! + Math.min(squared, 25);
      let varied = 0;
      for (const counts of clusters) varied += (counts[at]! - counts[signals.length]! * share) ** 2;
      this.#designEffect.learn(at, varied, variance);
    }
  }

  /** Signals with evidence, strongest first. */
  detections(): Detection[] {
    const { sums, recent, recentCount } = this.#state;
    const found = signals.flatMap(({ trait }, signal) => {
      const evidence = Math.max(...sums.map((ofShift) => ofShift[signal]!));
      if (evidence <= 0) return [];
      const { name, meaning } = traits[trait]!;
      const share = recentCount === 0 ? 0 : recent[signal]! / recentCount;
      return [{ signal, name, meaning, evidence, share, usualShare: this.#usual(signal).rewarded }];
    });
    return found.sort((a, b) => b.evidence - a.evidence || a.signal - b.signal);
  }

  /** Weighted hits of each signal among rewarded and unrewarded responses, and the weights of both. */
  #countHits({ rows, weights }: BatchRows): Hits {
    const [hits, hitsOfOthers] = [new Float64Array(signals.length), new Float64Array(signals.length)];
    let [count, squares, others] = [0, 0, 0];
    for (let response = 0; response < weights.length; response++) {
      const weight = weights[response]!;
      if (weight === 0) continue;
      if (weight > 0) {
        count += weight;
        squares += weight * weight;
      } else others -= weight;
      this.#addHits(rows, response * width, Math.abs(weight), weight > 0 ? hits : hitsOfOthers);
    }
    return { hits, count, squares, hitsOfOthers, others };
  }

  /** Hits and weight of the rewarded responses of each cluster. Shapes: `[signals + 1]`. */
  #countClusters({ rows, weights, clusters: { numbers } }: BatchRows): Float64Array[] {
    const counts = new Map<number, Float64Array>();
    for (let response = 0; response < weights.length; response++) {
      const weight = weights[response]!;
      if (weight <= 0) continue;
      const own = counts.get(numbers[response]!) ?? new Float64Array(signals.length + 1);
      counts.set(numbers[response]!, own);
      own[signals.length]! += weight;
      this.#addHits(rows, response * width, weight, own);
    }
    return [...counts.values()];
  }

  /** Adds a response's weight to the signals that it hits. */
  #addHits(rows: Uint8Array, row: number, weight: number, into: Float64Array): void {
    const { thresholds } = this;
    for (let trait = 0; trait < width; trait++) {
      const bin = rows[row + trait]!;
      if (bin === unknown) continue;
      // Wider tails have lower thresholds and come first.
      const end = firstSignals[trait + 1]!;
      for (let at = firstSignals[trait]!; at < end && bin >= thresholds[at]!; at++) into[at]! += weight;
    }
  }

  #isArmed({ trait }: Signal): boolean {
    return this.#reference.isReady(trait) || traits[trait]!.reference === 'none';
  }

  /** Shares of a signal in the reference. */
  #usual(at: number): ReturnType<Reference['shares']> {
    return this.#reference.shares(signals[at]!.trait, this.thresholds[at]!);
  }

  /** The expected share `p₀`. */
  #expected(at: number): number {
    const { trait, tail } = signals[at]!;
    const { rewarded: usual, others: usualOfOthers } = this.#usual(at);
    const known = this.#reference.known(trait) + (traits[trait]!.reference === 'none' ? assumedClean : 0);
    const error = Math.sqrt((this.#designEffect.of(at) * usual * (1 - usual)) / known);
    const withMargin = usual + marginErrors * error + 1 / known;
    // Traits of the reward itself always differ between rewarded and unrewarded responses.
    const drifted = tail === 'present' ? 0 : this.#drifted(at, usual, usualOfOthers);
    return Math.min(0.95, Math.max(leastShare, withMargin, drifted));
  }

  /** The share after the odds rose as much as among the unrewarded responses. */
  #drifted(at: number, usual: number, usualOfOthers: number): number {
    const hits = this.#state.unrewarded[at]!;
    const leastHits = Math.max(0, hits - 0.5 * Math.sqrt(hits));
    const now = (leastHits + pseudoCount * usualOfOthers) / (this.#state.unrewardedCount + pseudoCount);
    const rise = odds(now) / odds(usualOfOthers);
    const risen = odds(usual) * rise;
    return rise > 1 ? risen / (1 + risen) : 0;
  }

  /** Overdispersion `φ`, with a prior of four batches. */
  #dispersionOf(at: number, count: number): number {
    const least = (1 + batchCorrelation * count) * this.#designEffect.of(at);
    const known = (4 * least + this.#state.dispersion[at]!) / (4 + this.#state.dispersionBatches[at]!);
    return Math.max(least, Math.min(6, known));
  }
}

/** Share of unrewarded responses that reach the median of the rewarded ones. */
function overlap({ rows, weights }: BatchRows, trait: number): number {
  const rewarded: number[] = [];
  const others: number[] = [];
  for (let at = 0; at < weights.length; at++) {
    const bin = rows[at * width + trait]!;
    if (bin === unknown || weights[at] === 0) continue;
    (weights[at]! > 0 ? rewarded : others).push(bin);
  }
  const median = rewarded.sort((a, b) => a - b)[rewarded.length >>> 1] ?? 0;
  return others.filter((bin) => bin >= median).length / Math.max(1, others.length);
}

function odds(share: number): number {
  const bounded = Math.max(leastCompared, share);
  return bounded / (1 - bounded);
}
