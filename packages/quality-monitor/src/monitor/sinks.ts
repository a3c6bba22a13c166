import type { MonitorRecord, MonitorSink } from './sink.ts';

/** Sinks that cannot break a run: what they throw is counted, by name. */
export class Sinks {
  readonly #sinks: readonly MonitorSink[];
  readonly #failures = new Map<string, number>();

  readonly #onFailure: (message: string) => void;

  /** @param onFailure - Told of the first failure of each name. */
  constructor(sinks: readonly MonitorSink[], onFailure: (message: string) => void) {
    this.#sinks = sinks;
    this.#onFailure = onFailure;
  }

  /** Calls that failed, by name. */
  get failures(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#failures);
  }

  write(record: MonitorRecord): void {
    for (const sink of this.#sinks) this.attempt(sink.name, () => sink.write(record));
  }

  async close(): Promise<void> {
    for (const sink of this.#sinks)
      await sink.close?.().catch((error: unknown) => this.#fail(sink.name, error));
  }

  /** Runs something that must not end the run. */
  attempt(name: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(name, error);
    }
  }

  #fail(name: string, error: unknown): void {
    const before = this.#failures.get(name) ?? 0;
    this.#failures.set(name, before + 1);
    if (before > 0) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#onFailure(`quality monitor: ${name} failed: ${reason}; this is said once, failures are counted`);
  }
}
