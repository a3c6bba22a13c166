import { bins, traits } from './signals.ts';
import type { DetectorState } from './state.ts';

const width = traits.length;

type TraitCountsState = DetectorState['reference']['rewarded'];

/** Of each trait, how many responses had each of its values; responses may count in part. */
export class TraitCounts {
  /** Shape: `[traits × bins]`. */
  readonly #counts = new Float64Array(width * bins);
  readonly #known = new Float64Array(width);

  add(trait: number, bin: number, weight: number): void {
    this.#counts[trait * bins + bin]! += weight;
    this.#known[trait]! += weight;
  }

  /** Responses that had a value. */
  at(trait: number, bin: number): number {
    return this.#counts[trait * bins + bin]!;
  }

  /** Responses that had a value or a larger one. */
  beyond(trait: number, bin: number): number {
    const counts = this.#counts;
    const end = (trait + 1) * bins;
    let sum = 0;
    for (let place = trait * bins + bin; place < end; place++) sum += counts[place]!;
    return sum;
  }

  /** Responses whose trait is known. */
  known(trait: number): number {
    return this.#known[trait]!;
  }

  /** Lets what was known of a trait count less. */
  fade(trait: number, factor: number): void {
    for (let place = trait * bins; place < (trait + 1) * bins; place++) this.#counts[place]! *= factor;
    this.#known[trait]! *= factor;
  }

  /** What is long is written when it is read. */
  saveState(): TraitCountsState {
    const counts = this.#counts.slice();
    return {
      get counts() {
        return [...counts];
      },
      known: [...this.#known],
    };
  }

  loadState({ counts, known }: TraitCountsState): void {
    this.#counts.set(counts);
    this.#known.set(known);
  }
}
