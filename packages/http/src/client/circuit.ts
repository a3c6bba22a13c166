/** What a circuit breaker lets through: everything, nothing, or one request to see whether the server is back. */
export type CircuitState = 'closed' | 'open' | 'half-open';

/** Stops asking a server that keeps failing, until it has had time to recover. */
export class Circuit {
  readonly #failuresToOpen: number;
  readonly #coolDownMs: number;
  readonly #clock: () => number;
  #failures = 0;
  #openedAt: number | undefined;
  #openedBy: Error | undefined;
  /** Settled with the request that sees whether the server is back. */
  #probe: { readonly settled: Promise<void>; readonly settle: () => void } | undefined;

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

  /** The last failure, while the circuit is open. */
  get openedBy(): Error | undefined {
    return this.#openedBy;
  }

  /**
   * Whether a request may go out. A half-open circuit lets one out, and the others wait for what becomes of it: so a server that is
   * back answers all of them.
   */
  async admit(): Promise<boolean> {
    while (this.state === 'half-open') {
      if (this.#probe === undefined) {
        let settle!: () => void;
        const settled = new Promise<void>((resolve) => {
          settle = resolve;
        });
        this.#probe = { settled, settle };
        return true;
      }
      await this.#probe.settled;
    }
    return this.state === 'closed';
  }

  /** The server answered. */
  succeed(): void {
    this.#failures = 0;
    this.#openedAt = undefined;
    this.#openedBy = undefined;
    this.forget();
  }

  /** The server did not answer, or said that it is broken. */
  fail(error: Error): void {
    this.#failures += 1;
    if (this.#failures >= this.#failuresToOpen) {
      this.#openedAt = this.#clock();
      this.#openedBy = error;
    }
    this.forget();
  }

  /** Nothing was learned: the request was given up. */
  forget(): void {
    this.#probe?.settle();
    this.#probe = undefined;
  }
}
