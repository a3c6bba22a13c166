import { bins, traits } from './signals.ts';
import type { DetectorState } from './state.ts';

const width = traits.length;

type TraitCountsState = DetectorState['reference']['rewarded'];

/** Weighted counts of each value of each trait. */
export class TraitCounts {
  /** Shape: `[traits × bins]`. */
  readonly #counts = new Float64Array(width * bins);
  readonly #known = new Float64Array(width);

  add(trait: number, bin: number, weight: number): void {
    this.#counts[trait * bins + bin]! += weight;
    this.#known[trait]! += weight;
  }

  /** Weight of the responses with a value. */
  at(trait: number, bin: number): number {
    return this.#counts[trait * bins + bin]!;
  }

  /** Weight of the responses with at least this value. */
  beyond(trait: number, bin: number): number {
    const counts = this.#counts;
    const end = (trait + 1) * bins;
    let sum = 0;
    for (let place = trait * bins + bin; place < end; place++) sum += counts[place]!;
    return sum;
  }

  /** Weight of the responses with a known trait. */
  known(trait: number): number {
    return this.#known[trait]!;
  }

  /** Multiplies all counts of a trait. */
  fade(trait: number, factor: number): void {
    for (let place = trait * bins; place < (trait + 1) * bins; place++) this.#counts[place]! *= factor;
    this.#known[trait]! *= factor;
  }

  /** Long parts are converted when they are read. */
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
