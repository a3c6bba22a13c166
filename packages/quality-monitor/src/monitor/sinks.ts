import type { MonitorRecord, MonitorSink } from './sink.ts';

/** Sinks that cannot break a run: what they throw is counted, by name. */
export class Sinks {
  readonly #sinks: readonly MonitorSink[];
  readonly #failures = new Map<string, number>();

  constructor(sinks: readonly MonitorSink[]) {
    this.#sinks = sinks;
  }

  /** Calls that failed, by name. */
  get failures(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#failures);
  }

  write(record: MonitorRecord): void {
    for (const sink of this.#sinks) this.attempt(sink.name, () => sink.write(record));
  }

  async close(): Promise<void> {
    for (const sink of this.#sinks) await sink.close?.().catch(() => this.#countFailure(sink.name));
  }

  /** Runs something that must not end the run. */
  attempt(name: string, work: () => void): void {
    try {
      work();
    } catch {
      this.#countFailure(name);
    }
  }

  #countFailure(name: string): void {
    this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
  }
}
