/** Statistics of a reward over its window. `std` divides by the number of samples. */
export interface RewardStatistics {
  readonly mean: number;
  readonly std: number;
  readonly min: number;
  readonly max: number;
  readonly median: number;
  readonly samples: number;
}

/** The last values of a reward. */
export class RewardWindow {
  readonly #size: number;
  /** From the oldest to the newest. */
  readonly #values: number[] = [];
  /** By size, and statistics, if they were computed for the current values. */
  #sorted: Float64Array | undefined;
  #statistics: RewardStatistics | undefined;

  constructor(size: number) {
    this.#size = size;
  }

  get count(): number {
    return this.#values.length;
  }

  /** Adds a finite value. A full window drops its oldest value. */
  add(value: number): void {
    this.#values.push(value);
    const dropped = this.#values.length > this.#size ? this.#values.shift() : undefined;
    if (Object.is(dropped, value)) return;
    this.#sorted = undefined;
    this.#statistics = undefined;
  }

  /** @returns `undefined` if the window is empty. */
  statistics(): RewardStatistics | undefined {
    if (this.#values.length > 0) this.#statistics ??= statisticsOf(this.#inOrder());
    return this.#statistics;
  }

  /** Share of values equal to a bound. */
  shareAt(bound: number): number {
    return this.#values.filter((value) => value === bound).length / this.#values.length;
  }

  /** 1.4826 times the median distance from the median. It estimates the standard deviation of normal values. */
  robustDeviation(): number {
    const center = middle(this.#inOrder());
    return (
      1.4826 *
      middle(
        this.#inOrder()
          .map((value) => Math.abs(value - center))
          .sort(),
      )
    );
  }

  /** Values from the oldest to the newest. */
  values(): number[] {
    return [...this.#values];
  }

  #inOrder(): Float64Array {
    this.#sorted ??= Float64Array.from(this.#values).sort();
    return this.#sorted;
  }
}

function statisticsOf(sorted: Float64Array): RewardStatistics {
  const samples = sorted.length;
  let sum = 0;
  for (let at = 0; at < samples; at++) sum += sorted[at]!;
  const mean = sum / samples;
  let squares = 0;
  for (let at = 0; at < samples; at++) squares += (sorted[at]! - mean) ** 2;
  return {
    mean,
    std: Math.sqrt(squares / samples),
    min: sorted[0]!,
    max: sorted[samples - 1]!,
    median: middle(sorted),
    samples,
  };
}

function middle(sorted: Float64Array): number {
  const half = sorted.length >>> 1;
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
