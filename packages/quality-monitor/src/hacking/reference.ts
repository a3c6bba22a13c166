import type { ScaleState, WaitingBatch } from './state.ts';
import { bins, rowLength, tails, unknown } from './traits.ts';

/** Least batches before a trait is judged. */
const leastBatches = 4;
/** Pseudo-count on either side, distributed as all responses. */
const pseudoCount = 8;
/** Difference of shares that is attributed to rounding. */
const rounding = 1e-12;

/** How a reference takes in responses. */
export interface ReferenceOptions {
  /** Responses that it remembers. */
  readonly memory: number;
  /** `'fade'` forgets the oldest. `'keep'` takes no more once it is full. */
  readonly whenFull: 'fade' | 'keep';
  /** Rewarded responses before a trait is judged. */
  readonly warmUp: number;
}

/** Distribution of each trait in earlier batches, among rewarded and unrewarded responses. */
export class Reference {
  readonly #options: ReferenceOptions;
  readonly #state: ScaleState;

  constructor(options: ReferenceOptions, state: ScaleState) {
    this.#options = options;
    this.#state = state;
  }

  /** Whether there is enough data about a trait. */
  isReady(trait: number): boolean {
    return (
      this.#state.batchesKnown[trait]! >= leastBatches &&
      this.#state.rewarded[trait * bins]! >= this.#options.warmUp
    );
  }

  /** Adds a batch. */
  take(batch: WaitingBatch): void {
    const { memory, whenFull } = this.#options;
    for (let trait = 0; trait < rowLength; trait++) {
      const before = this.#all(trait);
      if (whenFull === 'keep' && this.known(trait) - pseudoCount >= memory) continue;
      // Older responses make room.
      const kept = memory / Math.max(memory, before + batch.weights.length);
      if (whenFull === 'fade' && kept < 1) this.#scale(trait, kept);
      this.#add(trait, batch);
      if (this.#all(trait) > before) this.#state.batchesKnown[trait]! += 1;
    }
  }

  /** Forgets a trait and learns it from these batches. */
  relearn(trait: number, batches: readonly WaitingBatch[]): void {
    this.#scale(trait, 0);
    for (const batch of batches) this.#add(trait, batch);
  }

  /** For each tail, the lowest bin that at most this share of the rewarded responses reaches. */
  thresholds(trait: number, least: number): number[] {
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
    const pseudo = (pseudoCount * (rewarded + others + 0.1)) / (this.#all(trait) + 10);
    return {
      rewarded: (rewarded + pseudo) / this.known(trait),
      others: (others + pseudo) / (this.#state.others[trait * bins]! + pseudoCount),
    };
  }

  /** Rewarded responses with a known trait, including the pseudo-count. */
  known(trait: number): number {
    return this.#state.rewarded[trait * bins]! + pseudoCount;
  }

  #all(trait: number): number {
    return this.#state.rewarded[trait * bins]! + this.#state.others[trait * bins]!;
  }

  #add(trait: number, { rows, weights }: WaitingBatch): void {
    for (let at = 0; at < weights.length; at++) {
      const [bin, weight] = [rows[at * rowLength + trait]!, weights[at]!];
      if (bin === unknown || weight === 0) continue;
      const counts = weight > 0 ? this.#state.rewarded : this.#state.others;
      for (let place = trait * bins; place <= trait * bins + bin; place++) counts[place]! += Math.abs(weight);
    }
  }

  #scale(trait: number, factor: number): void {
    for (const counts of [this.#state.rewarded, this.#state.others]) {
      for (let place = trait * bins; place < (trait + 1) * bins; place++) counts[place]! *= factor;
    }
  }
}
