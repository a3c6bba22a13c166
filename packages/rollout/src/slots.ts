/** A number of places that work waits for, first come, first served. */
export class Slots {
  readonly #size: number;
  #free: number;
  readonly #waiting: { readonly count: number; readonly enter: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** Resolves with the number of places taken: `count`, or all there are if that is more. */
  async take(count: number): Promise<number> {
    const wanted = Math.min(count, this.#size);
    if (this.#waiting.length > 0 || this.#free < wanted) {
      await new Promise<void>((enter) => this.#waiting.push({ count: wanted, enter }));
    } else {
      this.#free -= wanted;
    }
    return wanted;
  }

  /** Gives places back. */
  give(count: number): void {
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
