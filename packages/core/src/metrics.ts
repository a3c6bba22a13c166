/** Numbers by name, such as `reward/mean`; the vocabulary is documented in `docs/metrics.md`. */
export type Metrics = Readonly<Record<string, number>>;

/** Where metrics go. Never throws into the loop: an implementation that cannot write reports it once and goes on. */
export interface MetricsLogger {
  /** Records the metrics of one iteration; `step` only ever grows within a run. */
  log(step: number, metrics: Metrics): void;
  /** Resolves once everything logged is durable. */
  close(): Promise<void>;
}
