import { onAbort } from '@rlp/core';
import type { MonitorRecord, MonitorSink } from './sink.ts';

/** Sinks that cannot break a run: what they throw, and what else goes wrong, is counted by name. */
export class Sinks {
  readonly #sinks: readonly MonitorSink[];
  readonly #failures = new Map<string, number>();
  /** By the name of who does it. */
  readonly #underWay = new Map<Promise<unknown>, string>();
  readonly #onFailure: (message: string) => void;

  /** @param onFailure - Told of the first failure of each name. */
  constructor(sinks: readonly MonitorSink[], onFailure: (message: string) => void) {
    this.#sinks = sinks;
    this.#onFailure = onFailure;
  }

  /** What went wrong how often, by name. */
  get failures(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#failures);
  }

  write(record: MonitorRecord): void {
    for (const sink of this.#sinks) this.attempt(sink.name, () => sink.write(record));
  }

  /** Resolves once what was under way is done and all sinks are closed, or the signal fires: what is not done then has failed. */
  async close(signal?: AbortSignal): Promise<void> {
    await this.#settled(signal);
    for (const sink of this.#sinks) this.attempt(sink.name, () => sink.close?.());
    await this.#settled(signal);
    for (const name of this.#underWay.values()) this.report(name, 'it was not done when it was closed');
  }

  /** Runs something that must not end the run; what it returns a promise of may fail as well. */
  attempt<Result>(name: string, work: () => Result): Result | undefined {
    try {
      const result = work();
      if (isThenable(result)) this.#follow(name, result);
      return result;
    } catch (error) {
      this.#fail(name, error);
      return undefined;
    }
  }

  /** Counts a fault, and tells of the first of each name. */
  report(name: string, problem: string): void {
    const before = this.#failures.get(name) ?? 0;
    this.#failures.set(name, before + 1);
    if (before > 0) return;
    try {
      this.#onFailure(`quality monitor: ${name}: ${problem}; this is said once and counted`);
    } catch {
      // Whoever cannot be told reads it in `failures`.
    }
  }

  async #settled(signal: AbortSignal | undefined): Promise<void> {
    const done = Promise.all(this.#underWay.keys());
    if (signal === undefined) await done;
    else {
      await new Promise<void>((resolve) => {
        const release = onAbort(signal, resolve);
        void done.then(() => {
          release();
          resolve();
        });
      });
    }
  }

  #follow(name: string, work: PromiseLike<unknown>): void {
    const followed = Promise.resolve(work)
      .catch((error: unknown) => this.#fail(name, error))
      .finally(() => this.#underWay.delete(followed));
    this.#underWay.set(followed, name);
  }

  #fail(name: string, error: unknown): void {
    this.report(name, `it failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
