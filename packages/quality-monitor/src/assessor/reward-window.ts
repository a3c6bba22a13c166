/** Statistics of a reward over its window. `std` divides by the number of samples. */
export interface RewardStatistics {
  readonly mean: number;
  readonly std: number;
  readonly min: number;
  readonly max: number;
  readonly median: number;
  readonly samples: number;
}

/** What the spikes of a reward are measured against. */
export interface SpikeHistory {
  readonly center: number;
  readonly deviation: number;
  /** Range of the values that are known. */
  readonly low: number;
  readonly high: number;
}

/** The last values of a reward, in order of arrival and of size. Memory: two numbers per sample. */
export class RewardWindow {
  readonly #recent: Float64Array;
  readonly #sorted: Float64Array;
  #count = 0;
  #next = 0;
  /** Statistics of the current values, if computed. */
  #statistics: RewardStatistics | undefined;

  constructor(size: number) {
    this.#recent = new Float64Array(size);
    this.#sorted = new Float64Array(size);
  }

  get count(): number {
    return this.#count;
  }

  /** Adds a finite value. A full window drops its oldest value. */
  add(value: number): void {
    const oldest = this.#recent[this.#next]!;
    this.#recent[this.#next] = value;
    this.#next = (this.#next + 1) % this.#recent.length;
    if (this.#count === this.#recent.length && Object.is(value, oldest)) return;
    this.#statistics = undefined;
    let at = this.#firstFrom(value);
    if (this.#count < this.#recent.length) {
      this.#sorted.copyWithin(at + 1, at, this.#count);
      this.#count += 1;
    } else {
      // Move only the values in between.
      const free = this.#firstFrom(oldest);
      if (free < at) this.#sorted.copyWithin(free, free + 1, at--);
      else this.#sorted.copyWithin(at + 1, at, free);
    }
    this.#sorted[at] = value;
  }

  /** @returns `undefined` if the window is empty. */
  statistics(): RewardStatistics | undefined {
    if (this.#count > 0) this.#statistics ??= statisticsOf(this.#sorted.subarray(0, this.#count));
    return this.#statistics;
  }

  /** Share of the values that equal this one. */
  shareAt(value: number): number {
    const notAbove = placeAfter(this.#count, (at) => this.#sorted[at]! <= value);
    return (notAbove - this.#firstFrom(value)) / Math.max(1, this.#count);
  }

  /**
   * The history that spikes are measured against, if the values differ.
   *
   * Center: the median. Deviation: 1.4826 times the median distance from it, or the standard deviation if that is 0. A value within
   * one deviation of the range is not a spike. With the conventions of TunRex, mean and standard deviation are used, and no value
   * is known.
   */
  spikeHistory(conventions: 'rlp' | 'tunrex'): SpikeHistory | undefined {
    const statistics = this.statistics();
    if (statistics === undefined || statistics.std === 0) return undefined;
    const { mean, std, median, min, max } = statistics;
    if (conventions === 'tunrex') return { center: mean, deviation: std, low: Infinity, high: -Infinity };
    const deviation = this.robustDeviation() || std;
    return { center: median, deviation, low: min - deviation, high: max + deviation };
  }

  /** 1.4826 times the median distance from the median. It estimates the standard deviation of normal values. */
  robustDeviation(): number {
    const values = this.#sorted.subarray(0, this.#count);
    const center = middle(values);
    // The closest so many values are next to each other. The farther end of them is the farthest.
    const distanceOf = (closest: number) => {
      let least = Infinity;
      for (let first = 0, last = closest - 1; last < values.length; first++, last++) {
        least = Math.min(least, Math.max(center - values[first]!, values[last]! - center));
      }
      return least;
    };
    const half = values.length / 2;
    return 1.4826 * ((distanceOf(Math.ceil(half)) + distanceOf(Math.floor(half) + 1)) / 2);
  }

  /** Values from the oldest to the newest. */
  values(): Float64Array {
    const oldest = this.#count < this.#recent.length ? 0 : this.#next;
    const ring = this.#recent;
    return Float64Array.from({ length: this.#count }, (_, at) => ring[(oldest + at) % ring.length]!);
  }

  #firstFrom(value: number): number {
    return placeAfter(this.#count, (at) => this.#sorted[at]! < value);
  }
}

/** Number of sorted values that are below something. */
export function placeAfter(count: number, isBelow: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const half = (low + high) >>> 1;
    if (isBelow(half)) low = half + 1;
    else high = half;
  }
  return low;
}

function statisticsOf(sorted: Float64Array): RewardStatistics {
  const [mean, samples] = [meanOf(sorted), sorted.length];
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const std = Math.sqrt(squares / samples);
  return { mean, std, min: sorted[0]!, max: sorted[samples - 1]!, median: middle(sorted), samples };
}

/** Mean. 0 for no values. */
export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  if (Number.isFinite(sum)) return sum / Math.max(1, values.length);
  return Array.from(values).reduce((mean, value) => mean + value / values.length, 0);
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
