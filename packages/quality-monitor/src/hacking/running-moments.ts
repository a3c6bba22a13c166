/** Squares of smaller numbers are finite. */
const largest = 1e100;

/** Mean and standard deviation over batches. Older batches fade. */
export class RunningMoments {
  #weight = 0;
  #mean = 0;
  #square = 0;

  get mean(): number {
    return this.#mean;
  }

  get deviation(): number {
    return Math.sqrt(Math.max(0, this.#square - this.#mean ** 2));
  }

  /** Number of values, limited by the memory. */
  get weight(): number {
    return this.#weight;
  }

  /** Adds a batch's values. Values that are not finite or extremely large are skipped. */
  add(values: readonly number[], memory: number): void {
    const finite = values.filter((value) => Math.abs(value) < largest);
    if (finite.length === 0) return;
    const mean = finite.reduce((sum, value) => sum + value / finite.length, 0);
    const square = finite.reduce((sum, value) => sum + (value * value) / finite.length, 0);
    const before = Math.min(this.#weight, memory);
    const part = finite.length / (before + finite.length);
    this.#mean += part * (mean - this.#mean);
    this.#square += part * (square - this.#square);
    this.#weight = before + finite.length;
  }

  saveState(): readonly [number, number, number] {
    return [this.#weight, this.#mean, this.#square];
  }

  loadState([weight, mean, square]: readonly [number, number, number]): void {
    this.#weight = weight;
    this.#mean = mean;
    this.#square = square;
  }
}
