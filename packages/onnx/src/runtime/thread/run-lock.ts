/** A task that waits for its turn. */
interface Waiting {
  readonly kind: 'run' | 'change';
  readonly start: () => void;
}

/**
 * Runs that leave the thread, and changes of what they read, such as weights.
 *
 * Runs may be under way together, and a change only alone. All begin in the order in which they came. Where nothing is in the way,
 * a task begins at once, within the call.
 */
export class RunLock {
  readonly #waiting: Waiting[] = [];
  #runs = 0;
  #changes = 0;

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#perform('run', task);
  }

  change<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#perform('change', task);
  }

  async #perform<Result>(kind: Waiting['kind'], task: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length > 0 || !this.#isFree(kind))
      await new Promise<void>((start) => this.#waiting.push({ kind, start: () => start() }));
    else this.#count(kind, 1);
    try {
      return await task();
    } finally {
      this.#count(kind, -1);
      this.#next();
    }
  }

  #isFree(kind: Waiting['kind']): boolean {
    return this.#changes === 0 && (kind === 'run' || this.#runs === 0);
  }

  #count(kind: Waiting['kind'], change: 1 | -1): void {
    if (kind === 'run') this.#runs += change;
    else this.#changes += change;
  }

  /** Starts those who waited longest, as many as may be under way together. */
  #next(): void {
    while (this.#waiting.length > 0 && this.#isFree(this.#waiting[0]!.kind)) {
      const { kind, start } = this.#waiting.shift()!;
      this.#count(kind, 1);
      start();
    }
  }
}
