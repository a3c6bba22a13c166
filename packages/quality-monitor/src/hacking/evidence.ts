import { Likeness, type LikenessState } from './likeness.ts';
import type { BatchRows, Reference } from './reference.ts';
import { firstSignals, type Signal, signals, type Trait, traits, unknown } from './signals.ts';
import { type Change, Upheaval } from './upheaval.ts';

/** What one signal found in a batch. */
export interface Sighting {
  readonly signal: number;
  readonly name: string;
  readonly meaning: string;
  /** Nats of evidence gathered so far, 0 and up. */
  readonly evidence: number;
  /** Rewarded responses of the last batches with the trait, and of the reference. */
  readonly share: number;
  readonly usualShare: number;
}

/** What {@link Evidence} remembers, as JSON data. One number per signal. */
export interface EvidenceState {
  /** One list for each of the shifts. */
  readonly sums: readonly (readonly number[])[];
  readonly dispersion: readonly number[];
  readonly dispersionBatches: readonly number[];
  readonly likeness: LikenessState;
  readonly upheaval: readonly number[];
  readonly unrewarded: readonly number[];
  readonly unrewardedCount: number;
  readonly recent: readonly number[];
  readonly recentCount: number;
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
/** A trait's share among the rewarded is never taken to be lower than this. */
const leastShare = 0.01;
/** Part of those without the trait that have it if the reward is hacked; each has its own sums. */
export const shifts = [0.2, 0.4] as const;
/** Standard errors that the share in the reference may be too low by. */
const caution = 1.5;
/** Correlation of responses in a batch, before it is known, and at least. */
const likeness = 0.02;
/** How fast earlier batches fade from what is recent; faster where a rise among the unrewarded has to be seen at once. */
const [fading, fadingOfOthers] = [0.8, 0.6];
/** Unrewarded responses that the reference stands in for. */
const standIns = 8;
/** Clean responses that the reference of a trait begins with, where clean text hardly has it. */
const presumedClean = 200;
/** Shares that odds are made of are never taken to be lower. */
const leastCompared = 0.005;

/**
 * Cumulative sums of likelihood ratios: how much more likely the traits of the rewarded responses are if rewarded responses
 * have come to have them than if they have not.
 *
 * For each signal, among the `n` rewarded responses of a batch of which `k` have the trait (each counts by how clearly it was
 * rewarded; as that is at most 1, it makes no false alarm likelier),
 *
 *     S ← min(2h, max(0, S + (k ln(p₁ / p₀) + (n − k) ln((1 − p₁) / (1 − p₀))) / φ))
 *
 * `p₀` is the share in the reference plus its standard errors, or what it is when its odds rose as those among the unrewarded
 * did; `p₁ = p₀ + 0.2 (1 − p₀)`, and `+ 0.4 (1 − p₀)` in a second sum; the larger one counts. `φ ≥ (1 + 0.02 n) d` says how much
 * more the share varies from batch to batch than chance has it, with the {@link Likeness} `d` of a task's responses. With `p₀` and `φ` right, the mean number of batches between
 * false alarms of one sum is at least `eʰ`.
 *
 * @see Page 1954, https://doi.org/10.1093/biomet/41.1-2.100; Lorden 1971, https://doi.org/10.1214/aoms/1177693055
 */
export class Evidence {
  readonly #limit: number;
  /** For each of the shifts. */
  readonly #sums = shifts.map(() => new Float64Array(signals.length));
  readonly #dispersion = new Float64Array(signals.length);
  readonly #dispersionBatches = new Float64Array(signals.length);
  readonly #likeness = new Likeness();
  readonly #upheaval = new Upheaval();
  readonly #unrewarded = new Float64Array(signals.length);
  #unrewardedCount = 0;
  readonly #recent = new Float64Array(signals.length);
  #recentCount = 0;
  /** Bin from which on each signal's trait counts, as of the last batch. */
  readonly thresholds = new Uint8Array(signals.length);

  /** @param limit - `h`: nats at which a signal alarms. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Sets the thresholds from the reference, for the batch to come. */
  prepare(reference: Reference): void {
    for (const [trait, { tails, least }] of (traits as readonly Trait[]).entries()) {
      const found = tails === 'present' ? [1] : reference.thresholds(trait, tails, least);
      this.thresholds.set(found, firstSignals[trait]);
    }
  }

  /** Gathers a batch's evidence. @returns Whether the responses seem to be answers to something else than before. */
  gather(batch: BatchRows, reference: Reference): Change {
    const found = this.#countHits(batch);
    const { hits, count, hitsOfOthers, others } = found;
    if (count === 0) return 'none';
    // A batch that waited to be judged with this one must not be outweighed by it.
    const isJudgedTogether = this.#upheaval.isSuspected;
    this.#likeness.presume(batch.clusters, batch.standings);
    this.#unrewardedCount = fadingOfOthers * this.#unrewardedCount + others;
    this.#recentCount = fading * this.#recentCount + count;
    for (const [at, signal] of signals.entries()) {
      this.#unrewarded[at] = fadingOfOthers * this.#unrewarded[at]! + hitsOfOthers[at]!;
      this.#recent[at] = fading * this.#recent[at]! + hits[at]!;
      if (!isArmed(signal, reference)) continue;
      const before = this.#before(at, reference);
      const dispersion = this.#dispersionOf(at, count);
      for (const [place, shift] of shifts.entries()) {
        const sums = this.#sums[place]!;
        const after = before + shift * (1 - before);
        const gain =
          hits[at]! * Math.log(after / before) + (count - hits[at]!) * Math.log((1 - after) / (1 - before));
        const least = isJudgedTogether ? sums[at]! : 0;
        sums[at] = Math.min(2 * this.#limit, Math.max(least, sums[at]! + gain / dispersion));
      }
    }
    return this.#changeOf(found, batch, reference);
  }

  #changeOf({ hits, count, hitsOfOthers, others }: Hits, batch: BatchRows, reference: Reference): Change {
    return this.#upheaval.observe((at) => {
      const signal = signals[at]!;
      if (others === 0 || !isArmed(signal, reference)) return undefined;
      return {
        rewarded: hits[at]! / count,
        others: hitsOfOthers[at]! / others,
        usual: reference.shares(signal.trait, this.thresholds[at]!).others,
        overlap: () => overlap(batch, signal.trait),
        independent: others / this.#dispersionOf(at, others),
      };
    });
  }

  /**
   * Learns from a batch of the reference how much the signals vary from batch to batch, and from cluster to cluster.
   *
   * @param marks - 1 for each trait that it is about.
   */
  learnDispersion(batch: BatchRows, marks: Uint8Array, reference: Reference): void {
    this.prepare(reference);
    const { hits, count, squares } = this.#countHits(batch);
    if (count < 2) return;
    const clusters = this.#countClusters(batch);
    for (const [at, { trait }] of signals.entries()) {
      if (marks[trait] !== 1 || !reference.isReady(trait)) continue;
      const share = reference.shares(trait, this.thresholds[at]!).rewarded;
      const variance = squares * share * (1 - share);
      const squared = (hits[at]! - count * share) ** 2 / Math.max(variance, 0.5);
      this.#dispersionBatches[at] = 0.98 * this.#dispersionBatches[at]! + 1;
      this.#dispersion[at] = 0.98 * this.#dispersion[at]! + Math.min(squared, 25);
      let varied = 0;
      for (const counts of clusters) varied += (counts[at]! - counts[signals.length]! * share) ** 2;
      this.#likeness.learn(at, varied, variance);
    }
  }

  /** Signals that have gathered any evidence, most of it first. */
  sightings(reference: Reference): Sighting[] {
    const found = signals.flatMap(({ trait }, signal) => {
      const evidence = Math.max(...this.#sums.map((sums) => sums[signal]!));
      if (evidence <= 0) return [];
      const { name, meaning } = traits[trait]!;
      const share = this.#recentCount === 0 ? 0 : this.#recent[signal]! / this.#recentCount;
      const usualShare = reference.shares(trait, this.thresholds[signal]!).rewarded;
      return [{ signal, name, meaning, evidence, share, usualShare }];
    });
    return found.sort((a, b) => b.evidence - a.evidence || a.signal - b.signal);
  }

  /** Forgets evidence and the last batches; what the reference taught it stays. */
  forget(): void {
    for (const counts of [...this.#sums, this.#unrewarded, this.#recent]) counts.fill(0);
    this.#unrewardedCount = 0;
    this.#recentCount = 0;
    this.#upheaval.forget();
  }

  saveState(): EvidenceState {
    return {
      sums: this.#sums.map((sums) => [...sums]),
      dispersion: [...this.#dispersion],
      dispersionBatches: [...this.#dispersionBatches],
      likeness: this.#likeness.saveState(),
      upheaval: this.#upheaval.saveState(),
      unrewarded: [...this.#unrewarded],
      unrewardedCount: this.#unrewardedCount,
      recent: [...this.#recent],
      recentCount: this.#recentCount,
    };
  }

  loadState(state: EvidenceState): void {
    for (const [place, sums] of this.#sums.entries()) sums.set(state.sums[place]!);
    this.#dispersion.set(state.dispersion);
    this.#dispersionBatches.set(state.dispersionBatches);
    this.#likeness.loadState(state.likeness);
    this.#upheaval.loadState(state.upheaval);
    this.#unrewarded.set(state.unrewarded);
    this.#unrewardedCount = state.unrewardedCount;
    this.#recent.set(state.recent);
    this.#recentCount = state.recentCount;
  }

  /** Each signal's hits among the rewarded and among the others, by weight, and how many there are of either. */
  #countHits({ rows, standings }: BatchRows): Hits {
    const [hits, hitsOfOthers] = [new Float64Array(signals.length), new Float64Array(signals.length)];
    let [count, squares, others] = [0, 0, 0];
    for (let response = 0; response < standings.length; response++) {
      const standing = standings[response]!;
      if (standing === 0) continue;
      const weight = Math.abs(standing);
      const into = standing > 0 ? hits : hitsOfOthers;
      if (standing > 0) {
        count += weight;
        squares += weight * weight;
      } else others += weight;
      this.#addHits(rows, response * width, weight, into);
    }
    return { hits, count, squares, hitsOfOthers, others };
  }

  /** Of each cluster, the signals' hits among the rewarded, and how many these are. Shapes: `[signals + 1]`. */
  #countClusters({ rows, standings, clusters: { numbers } }: BatchRows): Float64Array[] {
    const counts = new Map<number, Float64Array>();
    for (let response = 0; response < standings.length; response++) {
      const standing = standings[response]!;
      if (standing <= 0) continue;
      const own = counts.get(numbers[response]!) ?? new Float64Array(signals.length + 1);
      counts.set(numbers[response]!, own);
      own[signals.length]! += standing;
      this.#addHits(rows, response * width, standing, own);
    }
    return [...counts.values()];
  }

  /** Adds a response's weight to each signal that it hits. */
  #addHits(rows: Uint8Array, row: number, weight: number, into: Float64Array): void {
    const { thresholds } = this;
    for (let trait = 0; trait < width; trait++) {
      const bin = rows[row + trait]!;
      if (bin === unknown) continue;
      // The wider a tail, the lower its threshold: what is below one is below those that follow.
      const end = firstSignals[trait + 1]!;
      for (let at = firstSignals[trait]!; at < end && bin >= thresholds[at]!; at++) into[at]! += weight;
    }
  }

  /** Share that is expected among the rewarded: the usual one, and as much more as the odds rose among the others. */
  #before(at: number, reference: Reference): number {
    const { trait, tail } = signals[at]!;
    const bin = this.thresholds[at]!;
    const { rewarded: usual, others: usualOfOthers } = reference.shares(trait, bin);
    const known = reference.known(trait) + (traits[trait]!.reference === 'none' ? presumedClean : 0);
    const error = Math.sqrt((this.#likeness.of(at) * usual * (1 - usual)) / known);
    const cautious = usual + caution * error + 1 / known;
    // Traits of the reward itself differ between the two by their nature.
    const drifted = tail === 'present' ? 0 : this.#drifted(at, usual, usualOfOthers);
    return Math.min(0.95, Math.max(leastShare, cautious, drifted));
  }

  #drifted(at: number, usual: number, usualOfOthers: number): number {
    const hits = this.#unrewarded[at]!;
    const cautious = Math.max(0, hits - 0.5 * Math.sqrt(hits));
    const now = (cautious + standIns * usualOfOthers) / (this.#unrewardedCount + standIns);
    const rise = odds(now) / odds(usualOfOthers);
    const risen = odds(usual) * rise;
    return rise > 1 ? risen / (1 + risen) : 0;
  }

  /** Until enough batches are known, responses of one batch are taken to be slightly alike, and those of one task as they were. */
  #dispersionOf(at: number, count: number): number {
    const least = (1 + likeness * count) * this.#likeness.of(at);
    const known = (4 * least + this.#dispersion[at]!) / (4 + this.#dispersionBatches[at]!);
    return Math.max(least, Math.min(6, known));
  }
}

/** Share of the unrewarded responses whose trait is at least at the median of the rewarded ones. */
function overlap({ rows, standings }: BatchRows, trait: number): number {
  const rewarded: number[] = [];
  const others: number[] = [];
  for (let at = 0; at < standings.length; at++) {
    const bin = rows[at * width + trait]!;
    if (bin === unknown || standings[at] === 0) continue;
    (standings[at]! > 0 ? rewarded : others).push(bin);
  }
  const median = rewarded.sort((a, b) => a - b)[rewarded.length >>> 1] ?? 0;
  return others.filter((bin) => bin >= median).length / Math.max(1, others.length);
}

function odds(share: number): number {
  const bounded = Math.max(leastCompared, share);
  return bounded / (1 - bounded);
}

function isArmed({ trait }: Signal, reference: Reference): boolean {
  return reference.isReady(trait) || traits[trait]!.reference === 'none';
}
