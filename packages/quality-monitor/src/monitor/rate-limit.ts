/** Steps of the alerting batches in the window, and whether each was let through. */
export type RateLimitState = readonly { readonly step: number; readonly verdict: 'through' | 'held' }[];

/** How {@link RateLimit} counts. */
export interface RateLimitOptions {
  readonly windowSteps: number;
  readonly most: number;
  /**
   * `'tunrex'`: batches that were held fill the window as well, and what was in it at the last alert counts for the rate,
   * however long ago that was.
   */
  readonly conventions: 'rlp' | 'tunrex';
}

/** Lets at most so many alerting batches through in any window of steps. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  #recent: RateLimitState = [];

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /**
   * Counts an alerting batch and says whether its alerts are reported. One with `'nothing to report'` takes no other's place,
   * except by the conventions of `'tunrex'`.
   */
  admit(step: number, content: 'alerts to report' | 'nothing to report'): 'through' | 'held' {
    const { most, conventions } = this.#options;
    this.#forget(step);
    const counted = this.#recent.filter(({ verdict }) => conventions === 'tunrex' || verdict === 'through');
    const takesPlace = conventions === 'tunrex' || content === 'alerts to report';
    const verdict = takesPlace && counted.length < most ? 'through' : 'held';
    this.#recent = [...this.#recent, { step, verdict }];
    return verdict;
  }

  /** Alerting batches per step of the window that ends with `step`. */
  rate(step: number): number {
    if (this.#options.conventions === 'rlp') this.#forget(step);
    return this.#recent.length / this.#options.windowSteps;
  }

  /** What it remembers, as JSON data. */
  saveState(): RateLimitState {
    return this.#recent;
  }

  loadState(state: RateLimitState): void {
    this.#recent = [...state];
  }

  #forget(step: number): void {
    this.#recent = this.#recent.filter((entry) => entry.step > step - this.#options.windowSteps);
  }
}
