import { bins, traits } from './signals.ts';

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
  readonly responses: number;
  readonly rewardedResponses: number;
  readonly batches: number;
  readonly waiting: readonly { readonly rows: readonly number[]; readonly rewarded: readonly number[] }[];
}

const width = traits.length;

/** How responses were before: the distribution of each trait, among all of them and among the rewarded. */
export class Reference {
  readonly #options: ReferenceOptions;
  readonly #all = new Float64Array(width * bins);
  readonly #rewarded = new Float64Array(width * bins);
  #waiting: BatchRows[] = [];
  responses = 0;
  rewardedResponses = 0;
  #batches = 0;

  constructor(options: ReferenceOptions) {
    this.#options = options;
  }

  /** Whether there is enough of it. */
  get isReady(): boolean {
    return this.responses >= this.#options.warmUpResponses && this.#batches >= 4;
  }

  /**
   * Remembers a batch, from `delayBatches` later on, once there is a reference at all.
   *
   * @param onTaken - Called with a batch before it is remembered.
   */
  add(batch: BatchRows, onTaken: (taken: BatchRows) => void): void {
    this.#waiting.push(batch);
    while (this.#waiting.length > (this.isReady ? this.#options.delayBatches : 0)) {
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
    const allowed = tail * this.responses;
    let beyond = 0;
    for (let bin = bins - 1; bin >= least; bin--) {
      beyond += this.#all[trait * bins + bin]!;
      if (beyond > allowed) return bin + 1;
    }
    return least;
  }

  /** Responses from a bin on. */
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
      responses: this.responses,
      rewardedResponses: this.rewardedResponses,
      batches: this.#batches,
      waiting: this.#waiting.map(({ rows, rewarded }) => ({ rows: [...rows], rewarded: [...rewarded] })),
    };
  }

  loadState({ all, rewarded, responses, rewardedResponses, batches, waiting }: ReferenceState): void {
    this.#all.set(all);
    this.#rewarded.set(rewarded);
    this.responses = responses;
    this.rewardedResponses = rewardedResponses;
    this.#batches = batches;
    this.#waiting = waiting.map((batch) => ({
      rows: Uint8Array.from(batch.rows),
      rewarded: Uint8Array.from(batch.rewarded),
    }));
  }

  #take({ rows, rewarded }: BatchRows): void {
    const count = rewarded.length;
    this.#fade(
      this.#options.memoryResponses / Math.max(this.#options.memoryResponses, this.responses + count),
    );
    for (let at = 0; at < count; at++) {
      if (rewarded[at] === 2) continue;
      this.responses += 1;
      this.rewardedResponses += rewarded[at]!;
      for (let trait = 0; trait < width; trait++) {
        const place = trait * bins + rows[at * width + trait]!;
        this.#all[place]! += 1;
        this.#rewarded[place]! += rewarded[at]!;
      }
    }
    this.#batches += 1;
  }

  #fade(factor: number): void {
    if (factor === 1) return;
    for (let at = 0; at < this.#all.length; at++) {
      this.#all[at]! *= factor;
      this.#rewarded[at]! *= factor;
    }
    this.responses *= factor;
    this.rewardedResponses *= factor;
  }
}
