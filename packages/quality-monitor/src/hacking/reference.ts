import { bins, traits, unknown } from './signals.ts';
import type { DetectorState } from './state.ts';

type State = DetectorState['reference'];

/** A batch that has not joined the reference, except for traits that were `taken` at once (1). */
type WaitingBatch = State['waiting'][number];

/**
 * Traits of a batch's responses. Shape of `rows`: `[responses × traits]`.
 *
 * `weights` are −1 to 1 and negative for unrewarded responses. Responses of weight 0 are ignored.
 */
export type BatchRows = Omit<WaitingBatch, 'taken'>;

/** Options of {@link Reference}, see `RewardHackingOptions`. */
export interface ReferenceOptions {
  readonly warmUpResponses: number;
  readonly delayBatches: number;
  readonly memoryResponses: number;
}

const width = traits.length;
/** Least batches before it is ready. */
const leastBatches = 4;
/** Responses until which it learns faster, and the delay in batches until then. */
const [settled, settlingBatches] = [256, 4];
/** Pseudo-count on either side, distributed as all responses. */
const pseudoCount = 8;
const mostSurprise = Math.log(10);
/** Difference of shares that is attributed to rounding. */
const rounding = 1e-12;

/**
 * Distribution of each trait in earlier batches, among rewarded and unrewarded responses.
 *
 * The counts of the state are cumulative: the weight of the responses in a bin or above. Shape: `[traits × bins]`.
 */
export class Reference {
  readonly #options: ReferenceOptions;
  readonly #state: State;

  constructor(options: ReferenceOptions, state: State) {
    this.#options = options;
    this.#state = state;
  }

  /** Whether there is enough data about a trait. */
  isReady(trait: number): boolean {
    const { warmUpResponses } = this.#options;
    return (
      this.#state.responses >= warmUpResponses &&
      this.#state.batchesKnown[trait]! >= leastBatches &&
      2 * this.#allKnown(trait) >= warmUpResponses
    );
  }

  /**
   * Adds a batch: unknown traits at once, the others after `delayBatches`.
   *
   * @param onKnown - Called with each batch before the rest of it joins. `marks` is 1 for the traits that join.
   */
  add(batch: BatchRows, onKnown: (known: BatchRows, marks: Uint8Array) => void): void {
    const { waiting } = this.#state;
    const { memoryResponses } = this.#options;
    const taken = Uint8Array.from(traits, (_, trait) => (this.isReady(trait) ? 0 : 1));
    const count = batch.weights.filter((weight) => weight !== 0).length;
    this.#state.responses = Math.min(memoryResponses, this.#state.responses + count);
    this.#take(batch, taken);
    waiting.push({ ...batch, taken });
    const ready = taken.map((mark, trait) => mark & (this.isReady(trait) ? 1 : 0));
    for (const known of ready.includes(1) ? waiting : []) {
      onKnown(
        known,
        ready.map((mark, trait) => mark & known.taken[trait]!),
      );
    }
    while (waiting.length > this.#delay()) {
      const oldest = waiting.shift()!;
      const rest = oldest.taken.map((mark) => 1 - mark);
      onKnown(oldest, rest);
      this.#take(oldest, rest);
    }
  }

  /** Forgets suspect batches that have not joined. */
  dropWaiting(): void {
    this.#state.waiting = [];
  }

  /**
   * Returns for each tail the lowest bin that at most this share of the rewarded responses reaches.
   *
   * @param tails - The widest first.
   * @param least - Lower bound on the bins.
   */
  thresholds(trait: number, tails: readonly number[], least: number): number[] {
    let bin = least;
    return tails.map((tail) => {
      while (bin < bins && this.shares(trait, bin).rewarded > tail + rounding) bin += 1;
      return bin;
    });
  }

  /** Shares of rewarded and unrewarded responses in a bin or above, with the pseudo-count. */
  shares(trait: number, bin: number): { readonly rewarded: number; readonly others: number } {
    const place = trait * bins + bin;
    const rewarded = bin < bins ? this.#state.rewarded[place]! : 0;
    const others = bin < bins ? this.#state.others[place]! : 0;
    const pseudo = (pseudoCount * (rewarded + others + 0.1)) / (this.#allKnown(trait) + 10);
    return {
      rewarded: (rewarded + pseudo) / this.known(trait),
      others: (others + pseudo) / (this.#state.others[trait * bins]! + pseudoCount),
    };
  }

  /**
   * Surprise of each value of each trait: `−ln(10 × share of the rewarded with as much or more)`, limited to 0…2.3.
   *
   * The limit keeps rare values comparable while the reference grows. Shape: `[traits × bins]`.
   */
  surprises(): Float32Array {
    return Float32Array.from({ length: width * bins }, (_, place) => {
      const [trait, bin] = [Math.floor(place / bins), place % bins];
      if (bin === 0 || !this.isReady(trait)) return 0;
      const share = this.shares(trait, bin).rewarded + 0.5 / this.known(trait);
      return Math.min(mostSurprise, Math.max(0, -Math.log(10 * share)));
    });
  }

  /** Rewarded responses with a known trait, including the pseudo-count. */
  known(trait: number): number {
    return this.#state.rewarded[trait * bins]! + pseudoCount;
  }

  /** Batches before one joins. */
  #delay(): number {
    const { delayBatches, memoryResponses } = this.#options;
    const isSettled = this.#state.responses >= Math.min(settled, memoryResponses);
    return isSettled ? delayBatches : Math.min(settlingBatches, delayBatches);
  }

  #allKnown(trait: number): number {
    return this.#state.rewarded[trait * bins]! + this.#state.others[trait * bins]!;
  }

  /** Adds the marked traits of a batch. */
  #take({ rows, weights }: BatchRows, marks: Uint8Array): void {
    const { batchesKnown } = this.#state;
    for (let trait = 0; trait < width; trait++) {
      if (marks[trait] !== 1) continue;
      this.#fade(trait, weights.length);
      const before = this.#allKnown(trait);
      for (let at = 0; at < weights.length; at++) this.#count(trait, rows[at * width + trait]!, weights[at]!);
      const isNews = this.#allKnown(trait) > before;
      if (isNews && batchesKnown[trait]! < leastBatches) batchesKnown[trait]! += 1;
    }
  }

  #count(trait: number, bin: number, weight: number): void {
    if (bin === unknown || weight === 0) return;
    const counts = weight > 0 ? this.#state.rewarded : this.#state.others;
    for (let place = trait * bins; place <= trait * bins + bin; place++) counts[place]! += Math.abs(weight);
  }

  /** Fades older responses to make room. */
  #fade(trait: number, coming: number): void {
    const { memoryResponses } = this.#options;
    const factor = memoryResponses / Math.max(memoryResponses, this.#allKnown(trait) + coming);
    if (factor === 1) return;
    for (const counts of [this.#state.rewarded, this.#state.others]) {
      for (let place = trait * bins; place < (trait + 1) * bins; place++) counts[place]! *= factor;
    }
  }
}
