import { orAborted } from './abort.ts';
import { messageOf } from './message-of.ts';
import { isPromiseLike } from './settle-within.ts';

/**
 * Failures of work that must never end a run, such as logging. The first failure of each name is told, and later ones are counted.
 *
 * @example
 * const failures = new Failures((message) => process.emitWarning(message));
 * failures.attempt('logger', () => logger.log(step, metrics));
 */
export class Failures {
  readonly #tell: (message: string) => void;
  readonly #counts = new Map<string, number>();
  /** Promises that have not settled, with the name of their source. */
  readonly #pending = new Map<Promise<unknown>, string>();

  /** @param tell - Receives a sentence. What it throws is ignored. */
  constructor(tell: (message: string) => void) {
    this.#tell = tell;
  }

  /** Failures by name. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Does work that may fail. A promise that it returns may reject. */
  attempt<Result>(name: string, work: () => Result): Result | undefined {
    try {
      const result = work();
      if (isPromiseLike(result)) this.#follow(name, result);
      return result;
    } catch (error) {
      this.report(name, messageOf(error));
      return undefined;
    }
  }

  /** Counts a failure, and tells the first of each name. */
  report(name: string, problem: string): void {
    const before = this.#counts.get(name) ?? 0;
    this.#counts.set(name, before + 1);
    if (before === 0) this.#say(`${name}: ${problem}; further failures are only counted`);
  }

  /** Resolves once the work is done or the signal fires. @returns The names of what is not done. */
  async settled(signal?: AbortSignal): Promise<readonly string[]> {
    await orAborted(Promise.all(this.#pending.keys()), signal).catch(() => undefined);
    return [...this.#pending.values()];
  }

  /** Tells how often each name failed, if that was more than once. */
  conclude(): void {
    for (const [name, count] of this.#counts) if (count > 1) this.#say(`${name}: ${count} times in total`);
  }

  #follow(name: string, work: PromiseLike<unknown>): void {
    const followed = Promise.resolve(work)
      .catch((error: unknown) => this.report(name, messageOf(error)))
      .finally(() => this.#pending.delete(followed));
    this.#pending.set(followed, name);
  }

  #say(message: string): void {
    try {
      this.#tell(message);
    } catch {
      // The failure remains in `counts`.
    }
  }
}
