/** Told what cannot be written and why. */
export type ProblemListener = (message: string) => void;

/** Tells of the first of many problems, counts the others, and says in the end how many there were. */
export class Problems {
  readonly #what: string;
  readonly #listener: ProblemListener;
  #count = 0;

  /** @param what - What does not happen, such as `wandbLogger: metrics are not logged`. */
  constructor(what: string, listener: ProblemListener) {
    this.#what = what;
    this.#listener = listener;
  }

  report(error: unknown): void {
    this.#count += 1;
    if (this.#count > 1) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#tell(`${this.#what}: ${reason}; this is said once and counted`);
  }

  conclude(): void {
    if (this.#count > 1) this.#tell(`${this.#what}: ${this.#count} times in all`);
  }

  #tell(message: string): void {
    try {
      this.#listener(message);
    } catch {
      // Metrics never end a run, nor does whoever cannot be told of them.
    }
  }
}
