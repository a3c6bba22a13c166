/** What a circuit breaker lets through: everything, nothing, or one request to see whether the server is back. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** Stops asking a server that keeps failing, until it has had time to recover. */
export class Circuit {
  readonly #failuresToOpen: number;
  readonly #coolDownMs: number;
  readonly #clock: () => number;
  #failures = 0;
  #openedAt: number | undefined;
  #isProbing = false;

  constructor(options: {
    readonly failures: number;
    readonly coolDownMs: number;
    readonly clock: () => number;
  }) {
    this.#failuresToOpen = options.failures;
    this.#coolDownMs = options.coolDownMs;
    this.#clock = options.clock;
  }

  get state(): CircuitState {
    if (this.#openedAt === undefined) return 'closed';
    return this.#clock() - this.#openedAt >= this.#coolDownMs ? 'half-open' : 'open';
  }

  /** Whether a request may go out now. A half-open circuit says yes once, until that request is settled. */
  admit(): boolean {
    const { state } = this;
    if (state !== 'half-open') return state === 'closed';
    if (this.#isProbing) return false;
    this.#isProbing = true;
    return true;
  }

  /** The server answered. */
  succeed(): void {
    this.#failures = 0;
    this.#openedAt = undefined;
    this.#isProbing = false;
  }

  /** The server did not answer, or said that it is broken. */
  fail(): void {
    this.#failures += 1;
    if (this.#failures >= this.#failuresToOpen) this.#openedAt = this.#clock();
    this.#isProbing = false;
  }

  /** Nothing was learned: the request was given up. */
  forget(): void {
    this.#isProbing = false;
  }
}
