/** Statistics of a reward over its window. `std` divides by the number of samples. */
export interface RewardStatistics {
  readonly mean: number;
  readonly std: number;
  readonly min: number;
  readonly max: number;
  readonly median: number;
  readonly samples: number;
}

/** The last values of a reward. They are sorted when somebody asks for their order. */
export class RewardWindow {
  readonly #recent: Float64Array;
  #count = 0;
  #next = 0;
  /** The current values by size, and their statistics, if computed. */
  #sorted: Float64Array | undefined;
  #statistics: RewardStatistics | undefined;

  constructor(size: number) {
    this.#recent = new Float64Array(size);
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a finite value. A full window drops its oldest value. */
  add(value: number): void {
    this.#recent[this.#next] = value;
    this.#next = (this.#next + 1) % this.#recent.length;
    this.#count = Math.min(this.#count + 1, this.#recent.length);
    this.#sorted = undefined;
    this.#statistics = undefined;
  }

  /** @returns `undefined` if the window is empty. */
  statistics(): RewardStatistics | undefined {
    if (this.#count > 0) this.#statistics ??= statisticsOf(this.#bySize());
    return this.#statistics;
  }

  /** Share of the values that equal this one. */
  shareAt(value: number): number {
    return this.#bySize().filter((one) => one === value).length / Math.max(1, this.#count);
  }

  /** 1.4826 times the median distance from the median. It estimates the standard deviation of normal values. */
  robustDeviation(): number {
    const center = middle(this.#bySize());
    return (
      1.4826 *
      middle(
        this.#bySize()
          .map((value) => Math.abs(value - center))
          .sort(),
      )
    );
  }

  /** Values from the oldest to the newest. */
  values(): Float64Array {
    const oldest = this.#count < this.#recent.length ? 0 : this.#next;
    const all = this.#recent.slice(0, this.#count);
    all.copyWithin(0, oldest);
    all.set(this.#recent.subarray(0, oldest), this.#count - oldest);
    return all;
  }

  #bySize(): Float64Array {
    this.#sorted ??= this.#recent.slice(0, this.#count).sort();
    return this.#sorted;
  }
}

function statisticsOf(sorted: Float64Array): RewardStatistics {
  const [mean, samples] = [meanOf(sorted), sorted.length];
  let squares = 0;
  for (let at = 0; at < samples; at++) squares += (sorted[at]! - mean) ** 2;
  const std = Math.sqrt(squares / samples);
  return { mean, std, min: sorted[0]!, max: sorted[samples - 1]!, median: middle(sorted), samples };
}

/** Mean. 0 for no values. */
export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  return sum / Math.max(1, values.length);
}

/** Median. 0 for no values. */
export function medianOf(values: readonly number[]): number {
  return middle(Float64Array.from(values).sort());
}

function middle(sorted: Float64Array): number {
  const half = sorted.length >>> 1;
  if (sorted.length % 2 === 1) return sorted[half]!;
  return sorted.length === 0 ? 0 : (sorted[half - 1]! + sorted[half]!) / 2;
}
