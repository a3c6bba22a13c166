/** Receives what could not be written and why. */
export type ProblemListener = (message: string) => void;

/** Reports the first of many problems, counts the others, and reports the total at the end. */
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
    this.#tell(`${this.#what}: ${reason}; further failures are only counted`);
  }

  conclude(): void {
    if (this.#count > 1) this.#tell(`${this.#what}: ${this.#count} times in total`);
  }

  #tell(message: string): void {
    try {
      this.#listener(message);
    } catch {
      // Metrics never end a run, and neither does a listener that throws.
    }
  }
}
