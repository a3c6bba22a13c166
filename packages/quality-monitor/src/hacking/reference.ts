import { bins, traits, unknown } from './signals.ts';

/** Traits of a batch's responses. */
export interface BatchRows {
  /** Shape: `[responses × traits]`. */
  readonly rows: Uint8Array;
  /** Of each response: 1 rewarded, 0 not, 2 not scored. */
  readonly rewarded: Uint8Array;
}

/** How a {@link Reference} remembers. */
export interface ReferenceOptions {
  /** Responses it is made of before anything is judged by it. */
  readonly warmUpResponses: number;
  /** Batches after which one becomes part of it. */
  readonly delayBatches: number;
  /** Responses it remembers, about; older ones fade. */
  readonly memoryResponses: number;
}

/** What a {@link Reference} remembers, as JSON data. */
export interface ReferenceState {
  readonly all: readonly number[];
  readonly rewarded: readonly number[];
  readonly allKnown: readonly number[];
  readonly rewardedKnown: readonly number[];
  readonly responses: number;
  readonly batches: number;
  readonly waiting: readonly { readonly rows: readonly number[]; readonly rewarded: readonly number[] }[];
}

const width = traits.length;

/** How responses were before: the distribution of each trait, among all of them and among the rewarded. */
export class Reference {
  readonly #options: ReferenceOptions;
  readonly #all = new Float64Array(width * bins);
  readonly #rewarded = new Float64Array(width * bins);
  /** Responses that each trait is known of. */
  readonly #allKnown = new Float64Array(width);
  readonly #rewardedKnown = new Float64Array(width);
  #waiting: BatchRows[] = [];
  #responses = 0;
  #batches = 0;

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  /** Whether there is enough of it, as far as a trait is concerned. */
  isReady(trait: number): boolean {
    return this.#isWarm && 2 * this.#allKnown[trait]! >= this.#options.warmUpResponses;
  }

  get #isWarm(): boolean {
    return this.#responses >= this.#options.warmUpResponses && this.#batches >= 4;
  }

  /**
   * Remembers a batch, from `delayBatches` later on, once there is a reference at all.
   *
   * @param onTaken - Called with a batch before it is remembered.
   */
  add(batch: BatchRows, onTaken: (taken: BatchRows) => void): void {
    this.#waiting.push(batch);
    while (this.#waiting.length > (this.#isWarm ? this.#options.delayBatches : 0)) {
      const oldest = this.#waiting.shift()!;
      onTaken(oldest);
      this.#take(oldest);
    }
  }

  /** Forgets the batches that wait to be remembered: they are under suspicion. */
  dropWaiting(): void {
    this.#waiting = [];
  }

  /** Lowest bin that at most `tail` of all responses reach, and no lower than `least`. */
  threshold(trait: number, tail: number, least: number): number {
    const allowed = tail * this.#allKnown[trait]!;
    let beyond = 0;
    for (let bin = bins - 1; bin >= least; bin--) {
      beyond += this.#all[trait * bins + bin]!;
      if (beyond > allowed) return bin + 1;
    }
    return least;
  }

  /** Responses whose trait is known. */
  known(trait: number, among: 'all' | 'rewarded'): number {
    return (among === 'all' ? this.#allKnown : this.#rewardedKnown)[trait]!;
  }

  /** Those of them that lie in a bin or above. */
  beyond(trait: number, bin: number, among: 'all' | 'rewarded'): number {
    const histogram = among === 'all' ? this.#all : this.#rewarded;
    let sum = 0;
    for (let at = bin; at < bins; at++) sum += histogram[trait * bins + at]!;
    return sum;
  }

  saveState(): ReferenceState {
    return {
      all: [...this.#all],
      rewarded: [...this.#rewarded],
      allKnown: [...this.#allKnown],
      rewardedKnown: [...this.#rewardedKnown],
      responses: this.#responses,
      batches: this.#batches,
      waiting: this.#waiting.map(({ rows, rewarded }) => ({ rows: [...rows], rewarded: [...rewarded] })),
    };
  }

  loadState(state: ReferenceState): void {
    this.#all.set(state.all);
    this.#rewarded.set(state.rewarded);
    this.#allKnown.set(state.allKnown);
    this.#rewardedKnown.set(state.rewardedKnown);
    this.#responses = state.responses;
    this.#batches = state.batches;
    this.#waiting = state.waiting.map((batch) => ({
      rows: Uint8Array.from(batch.rows),
      rewarded: Uint8Array.from(batch.rewarded),
    }));
  }

  #take({ rows, rewarded }: BatchRows): void {
    const { memoryResponses } = this.#options;
    this.#fade(memoryResponses / Math.max(memoryResponses, this.#responses + rewarded.length));
    for (let at = 0; at < rewarded.length; at++) {
      if (rewarded[at] === 2) continue;
      this.#responses += 1;
      for (let trait = 0; trait < width; trait++) {
        const bin = rows[at * width + trait]!;
        if (bin === unknown) continue;
        this.#all[trait * bins + bin]! += 1;
        this.#allKnown[trait]! += 1;
        if (rewarded[at] === 0) continue;
        this.#rewarded[trait * bins + bin]! += 1;
        this.#rewardedKnown[trait]! += 1;
      }
    }
    this.#batches += 1;
  }

  #fade(factor: number): void {
    if (factor === 1) return;
    for (const counts of [this.#all, this.#rewarded, this.#allKnown, this.#rewardedKnown]) {
      for (let at = 0; at < counts.length; at++) counts[at]! *= factor;
    }
    this.#responses *= factor;
  }
}
