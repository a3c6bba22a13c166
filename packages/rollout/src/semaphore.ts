/** Permits that work waits for, first come, first served. */
export class Semaphore {
  readonly #size: number;
  #free: number;
  readonly #waiting: { readonly count: number; readonly enter: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** Takes `count` permits, or all there are if that is more. Resolves with their number. */
  async acquire(count: number): Promise<number> {
    const wanted = Math.min(count, this.#size);
    if (this.#waiting.length > 0 || this.#free < wanted) {
      await new Promise<void>((enter) => this.#waiting.push({ count: wanted, enter }));
    } else {
      this.#free -= wanted;
    }
    return wanted;
  }

  /** Gives permits back. */
  release(count: number): void {
    this.#free += count;
    for (
      let next = this.#waiting[0];
      next !== undefined && next.count <= this.#free;
      next = this.#waiting[0]
    ) {
      this.#waiting.shift();
      this.#free -= next.count;
      next.enter();
    }
  }
}
