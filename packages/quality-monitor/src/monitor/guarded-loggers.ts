import {
  type Finding,
  isPromiseLike,
  type Metrics,
  type MetricsLogger,
  messageOf,
  orAborted,
} from '@rlp/core';

/** Everything to log about one batch. */
export interface BatchLog {
  readonly step: number;
  readonly metrics: Metrics;
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
}

/** Loggers whose errors never reach the run. Errors are counted by name and reported once. */
export class GuardedLoggers {
  readonly #loggers: readonly MetricsLogger[];
  readonly #failures = new Map<string, number>();
  /** Promises that have not settled, with the name of their source. */
  readonly #pending = new Map<Promise<unknown>, string>();
  readonly #onFailure: (message: string) => void;

  /** @param onFailure - Called on the first failure of each name. */
  constructor(loggers: readonly MetricsLogger[], onFailure: (message: string) => void) {
    this.#loggers = loggers;
    this.#onFailure = onFailure;
  }

  /** Failures by name. */
  get failures(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#failures);
  }

  write({ step, metrics, findings, notes }: BatchLog): void {
    for (const [at, logger] of this.#loggers.entries()) {
      const attempt = (work: () => unknown) => this.attempt(`logger ${at}`, work);
      attempt(() => logger.log(step, metrics));
      for (const finding of findings) attempt(() => logger.finding?.(step, finding));
      for (const note of notes) attempt(() => logger.note?.(step, note));
    }
  }

  /** Resolves once all loggers are closed or the signal fires. What is unfinished then counts as failed. */
  async close(signal?: AbortSignal): Promise<void> {
    await this.#settled(signal);
    for (const [at, logger] of this.#loggers.entries()) this.attempt(`logger ${at}`, () => logger.close());
    await this.#settled(signal);
    for (const name of this.#pending.values()) this.report(name, 'it was not done when the monitor closed');
  }

  /** Runs something that must not end the run. A promise that it returns may reject. */
  attempt<Result>(name: string, work: () => Result): Result | undefined {
    try {
      const result = work();
      if (isPromiseLike(result)) this.#follow(name, result);
      return result;
    } catch (error) {
      this.#fail(name, error);
      return undefined;
    }
  }

  /** Counts a failure, and reports the first of each name. */
  report(name: string, problem: string): void {
    const before = this.#failures.get(name) ?? 0;
    this.#failures.set(name, before + 1);
    if (before > 0) return;
    try {
      this.#onFailure(`quality monitor: ${name}: ${problem}. Reported once; later failures are counted.`);
    } catch {
      // The failure remains in `failures`.
    }
  }

  /** Resolves once nothing is pending or the signal fires. */
  async #settled(signal: AbortSignal | undefined): Promise<void> {
    await orAborted(Promise.all(this.#pending.keys()), signal).catch(() => undefined);
  }

  #follow(name: string, work: PromiseLike<unknown>): void {
    const followed = Promise.resolve(work)
      .catch((error: unknown) => this.#fail(name, error))
      .finally(() => this.#pending.delete(followed));
    this.#pending.set(followed, name);
  }

  #fail(name: string, error: unknown): void {
    this.report(name, `it failed: ${messageOf(error)}`);
  }
}
