import { designEffectOf } from './batch-facts.ts';
import type { ScaleState, WaitingBatch } from './state.ts';
import { bins, rowLength, type Scale, signalCount, type Trait, tails, traits, unknown } from './traits.ts';

/** Evidence that rewarded responses changed in one trait. */
export interface Suspicion extends Trait {
  readonly trait: number;
  /** Accumulated nats, 0 and up. */
  readonly evidence: number;
  /** Share of recent rewarded responses with the trait, and of those of the reference. */
  readonly share: number;
  readonly usualShare: number;
  /** Lowest bin that counts. */
  readonly threshold: number;
}

/** Shares of the responses without a trait that a hack gives it to, by scale. Each has its own sums. */
const shifts = { quick: [0.2, 0.4], slow: [0.08, 0.3] } as const;
/** Lower bound on the expected share of a trait, and standard errors added to the share in the reference. */
const [leastShare, marginErrors] = [0.01, 1.5];
/** Least correlation of the responses in a batch. */
const batchCorrelation = 0.02;
/** Weight that recent counts of rewarded responses keep per batch. */
const fading = 0.8;
/** The same for unrewarded responses, and standard errors added to their hits. The quick scale must react faster. */
const drifts = { quick: { fading: 0.6, errors: -0.5 }, slow: { fading: 0.9, errors: 0.5 } } as const;
/** Pseudo-count of the reference, distributed as all responses, and of recent unrewarded ones, distributed as in the reference. */
const pseudoCount = 8;
/** Least batches in the reference before a trait is judged. */
const leastBatches = 4;
/** Difference of shares that is attributed to rounding, and lower bound on shares that odds are computed from. */
const [rounding, leastCompared] = [1e-12, 0.005];
const mostDispersion = 6;
/** Share of recent responses beyond the usual below which a change is over. */
const leastExcess = 0.005;
/** Ceiling of the sums, in limits. The slow sums fall slowly. */
const ceilings = { quick: 2, slow: 1.25 } as const;

/** Options of a time scale. */
interface ScaleOptions {
  /** Responses that the reference remembers. The quick one forgets the oldest. The slow one takes no more once it is full. */
  readonly memory: number;
  /** Rewarded responses before a trait is judged. */
  readonly warmUp: number;
  /** `h`, the nats of a suspicion. */
  readonly limit: number;
  /** Traits that may change freely. */
  readonly intended: ReadonlySet<string>;
}

/**
 * Cumulative sums of likelihood ratios for the traits of rewarded responses, on one time scale.
 *
 * The reference is the distribution of each trait in earlier batches, among rewarded and unrewarded responses.
 *
 * Of the `n` rewarded responses of a batch, counted by their weights, `k` have the trait of a signal. Then
 *
 *     S ← min(ch, max(0, S + (k ln(p₁ / p₀) + (n − k) ln((1 − p₁) / (1 − p₀))) / φ))
 *
 * - `p₀`: expected share. It is the share in the reference plus a margin, or higher if the odds rose among unrewarded responses.
 * - `p₁`: `p₀ + s (1 − p₀)` for two shifts `s`. The larger sum counts.
 * - `c`: 2 on the quick scale, 1.25 on the slow one.
 * - `φ ≥ (1 + 0.02 n) d`: overdispersion between batches, with the design effect `d` of several responses to one task.
 *
 * With exact `p₀` and `φ`, the mean number of batches between false suspicions of one sum is at least `eʰ`. Weights of at most 1
 * do not increase it.
 *
 * @see Page 1954, https://doi.org/10.1093/biomet/41.1-2.100
 * @see Lorden 1971, https://doi.org/10.1214/aoms/1177693055
 * @see Kish 1965, Survey Sampling, section 5.4
 */
export class ScaleSuspicions {
  readonly scale: Scale;
  readonly #options: ScaleOptions;
  readonly #state: ScaleState;
  readonly #thresholds = new Uint8Array(signalCount);

  constructor(scale: Scale, options: ScaleOptions, state: ScaleState) {
    this.scale = scale;
    this.#options = options;
    this.#state = state;
  }

  /** Whether a trait may not change freely, and the reference has enough data about it. */
  #isArmed(trait: number): boolean {
    const { batchesKnown, rewarded } = this.#state;
    const isKnown = batchesKnown[trait]! >= leastBatches && rewarded[trait * bins]! >= this.#options.warmUp;
    return isKnown && !this.#options.intended.has(traits[trait]!.name);
  }

  /** Whether any trait is compared with the reference yet. */
  get isArmed(): boolean {
    return traits.some((_, trait) => this.#isArmed(trait));
  }

  /** Adds a batch's evidence. */
  gather(batch: WaitingBatch): void {
    this.#prepare();
    const { hits, count, hitsOfOthers, others } = this.#countHits(batch);
    if (count === 0) return;
    const state = this.#state;
    const designEffect = designEffectOf(batch);
    const { fading: fadingOfOthers } = drifts[this.scale];
    const ceiling = ceilings[this.scale] * this.#options.limit;
    state.unrewardedCount = fadingOfOthers * state.unrewardedCount + others;
    state.recentCount = fading * state.recentCount + count;
    for (let signal = 0; signal < signalCount; signal++) {
      state.unrewarded[signal] = fadingOfOthers * state.unrewarded[signal]! + hitsOfOthers[signal]!;
      state.recent[signal] = fading * state.recent[signal]! + hits[signal]!;
      if (!this.#isArmed(traitOf(signal))) continue;
      const before = this.#expected(signal, designEffect);
      const dispersion = this.#dispersionOf(signal, count, designEffect);
      for (const [place, shift] of shifts[this.scale].entries()) {
        const sums = state.sums[place]!;
        const after = before + shift * (1 - before);
        const k = hits[signal]!;
        const gain = k * Math.log(after / before) + (count - k) * Math.log((1 - after) / (1 - before));
        sums[signal] = Math.min(ceiling, Math.max(0, sums[signal]! + gain / dispersion));
      }
    }
  }

  /** Learns how much the signals vary between batches, and adds the batch to the reference. */
  learn(batch: WaitingBatch): void {
    this.#prepare();
    const { hits, count, squares } = this.#countHits(batch);
    const { dispersion, dispersionBatches } = this.#state;
    for (let signal = 0; signal < signalCount && count >= 2; signal++) {
      if (!this.#isArmed(traitOf(signal))) continue;
      const share = this.#usual(signal).rewarded;
      const squared = (hits[signal]! - count * share) ** 2 / Math.max(squares * share * (1 - share), 0.5);
      dispersionBatches[signal] = 0.98 * dispersionBatches[signal]! + 1;
      dispersion[signal] = 0.98 * dispersion[signal]! + Math.min(squared, 25);
    }
    this.#take(batch);
  }

  /** Each signal with evidence that lasts. */
  suspicions(): Suspicion[] {
    const { sums, recent, recentCount } = this.#state;
    const all = Array.from(this.#thresholds, (threshold, signal): Suspicion => {
      const trait = traitOf(signal);
      const evidence = Math.max(sums[0][signal]!, sums[1][signal]!);
      const [share, usualShare] = [recent[signal]! / (recentCount || 1), this.#usual(signal).rewarded];
      return { ...traits[trait]!, trait, evidence, share, usualShare, threshold };
    });
    // Evidence of something that is over falls slowly.
    const isOver = ({ share, usualShare }: Suspicion) => share <= 1.2 * usualShare + leastExcess;
    return all.filter((suspicion) => suspicion.evidence > 0 && !isOver(suspicion));
  }

  /** Makes what the batches show of a trait the new normal. */
  accept(trait: number, batches: readonly WaitingBatch[]): void {
    this.#multiply(trait, 0);
    for (const batch of batches) this.#add(trait, batch);
    this.forget(trait);
  }

  /** Drops the evidence of one trait, or of all. */
  forget(only?: number): void {
    const { sums, recent, unrewarded } = this.#state;
    const [from, to] =
      only === undefined ? [0, signalCount] : [only * tails.length, (only + 1) * tails.length];
    for (const values of [...sums, recent, unrewarded]) values.fill(0, from, to);
    if (only === undefined) Object.assign(this.#state, { recentCount: 0, unrewardedCount: 0 });
  }

  /** Sets the thresholds for the next batch: for each tail, the lowest bin that at most this share of the rewarded responses reaches. */
  #prepare(): void {
    for (const [trait, { least }] of traits.entries()) {
      let bin: number = least;
      for (const [place, tail] of tails.entries()) {
        while (bin < bins && this.#shares(trait, bin).rewarded > tail + rounding) bin += 1;
        this.#thresholds[trait * tails.length + place] = bin;
      }
    }
  }

  /** Adds a batch to the reference. */
  #take(batch: WaitingBatch): void {
    const { memory } = this.#options;
    for (let trait = 0; trait < rowLength; trait++) {
      const before = this.#all(trait);
      if (this.scale === 'slow' && this.#known(trait) - pseudoCount >= memory) continue;
      // Older responses make room.
      const kept = memory / Math.max(memory, before + batch.weights.length);
      if (this.scale === 'quick' && kept < 1) this.#multiply(trait, kept);
      this.#add(trait, batch);
      if (this.#all(trait) > before) this.#state.batchesKnown[trait]! += 1;
    }
  }

  #add(trait: number, { rows, weights }: WaitingBatch): void {
    for (let at = 0; at < weights.length; at++) {
      const [bin, weight] = [rows[at * rowLength + trait]!, weights[at]!];
      if (bin === unknown || weight === 0) continue;
      const counts = weight > 0 ? this.#state.rewarded : this.#state.others;
      for (let place = trait * bins; place <= trait * bins + bin; place++) counts[place]! += Math.abs(weight);
    }
  }

  #multiply(trait: number, factor: number): void {
    for (const counts of [this.#state.rewarded, this.#state.others]) {
      for (let place = trait * bins; place < (trait + 1) * bins; place++) counts[place]! *= factor;
    }
  }

  /** Weight of the responses with each signal, and of all. `squares` sums the squared weights of the rewarded ones. */
  #countHits({ rows, weights }: WaitingBatch) {
    const [hits, hitsOfOthers] = [new Float64Array(signalCount), new Float64Array(signalCount)];
    const thresholds = this.#thresholds;
    let [count, squares, others] = [0, 0, 0];
    for (let response = 0; response < weights.length; response++) {
      const weight = weights[response]!;
      if (weight === 0) continue;
      if (weight > 0) {
        count += weight;
        squares += weight * weight;
      } else others -= weight;
      const [into, size] = [weight > 0 ? hits : hitsOfOthers, Math.abs(weight)];
      for (let trait = 0; trait < rowLength; trait++) {
        const bin = rows[response * rowLength + trait]!;
        if (bin === unknown) continue;
        // Wider tails have lower thresholds and come first.
        const end = (trait + 1) * tails.length;
        for (let at = trait * tails.length; at < end && bin >= thresholds[at]!; at++) into[at]! += size;
      }
    }
    return { hits, count, squares, hitsOfOthers, others };
  }

  /** Shares of a signal in the reference. */
  #usual(signal: number) {
    return this.#shares(traitOf(signal), this.#thresholds[signal]!);
  }

  /** Shares of rewarded and unrewarded responses in a bin or above, with the pseudo-count. */
  #shares(trait: number, bin: number) {
    const place = trait * bins + bin;
    const rewarded = bin < bins ? this.#state.rewarded[place]! : 0;
    const others = bin < bins ? this.#state.others[place]! : 0;
    const pseudo = (pseudoCount * (rewarded + others + 0.1)) / (this.#all(trait) + 10);
    return {
      rewarded: (rewarded + pseudo) / this.#known(trait),
      others: (others + pseudo) / (this.#state.others[trait * bins]! + pseudoCount),
    };
  }

  /** Rewarded responses with a known trait, including the pseudo-count. */
  #known(trait: number): number {
    return this.#state.rewarded[trait * bins]! + pseudoCount;
  }

  #all(trait: number): number {
    return this.#state.rewarded[trait * bins]! + this.#state.others[trait * bins]!;
  }

  /** The expected share `p₀`. */
  #expected(signal: number, designEffect: number): number {
    const { rewarded: usual, others: usualOfOthers } = this.#usual(signal);
    const known = this.#known(traitOf(signal));
    const error = Math.sqrt((designEffect * usual * (1 - usual)) / known);
    const withMargin = usual + marginErrors * error + 1 / known;
    const drifted = this.#drifted(signal, usual, usualOfOthers);
    return Math.min(0.95, Math.max(leastShare, withMargin, drifted));
  }

  /** The share after the odds rose as much as among the unrewarded responses. */
  #drifted(signal: number, usual: number, usualOfOthers: number): number {
    const hits = this.#state.unrewarded[signal]!;
    const leastHits = Math.max(0, hits + drifts[this.scale].errors * Math.sqrt(hits));
    const now = (leastHits + pseudoCount * usualOfOthers) / (this.#state.unrewardedCount + pseudoCount);
    const rise = odds(now) / odds(usualOfOthers);
    const risen = odds(usual) * rise;
    return rise > 1 ? risen / (1 + risen) : 0;
  }

  /** Overdispersion `φ`, with a prior of four batches. */
  #dispersionOf(signal: number, count: number, designEffect: number): number {
    const least = (1 + batchCorrelation * count) * designEffect;
    const { dispersion, dispersionBatches } = this.#state;
    const known = (4 * least + dispersion[signal]!) / (4 + dispersionBatches[signal]!);
    return Math.max(least, Math.min(mostDispersion, known));
  }
}

function traitOf(signal: number): number {
  return Math.floor(signal / tails.length);
}

function odds(share: number): number {
  const bounded = Math.max(leastCompared, share);
  return bounded / (1 - bounded);
}
