/** Milliseconds between laps, added up by name. Nothing without a clock. */
export class Stopwatch {
  readonly laps: Record<string, number> = {};
  readonly #clock: (() => number) | undefined;
  #last: number;

  constructor(clock: (() => number) | undefined) {
    this.#clock = clock;
    this.#last = clock?.() ?? 0;
  }

  lap(name: string): void {
    if (this.#clock === undefined) return;
    const now = this.#clock();
    this.laps[name] = (this.laps[name] ?? 0) + now - this.#last;
    this.#last = now;
  }
}
