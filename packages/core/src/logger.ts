import type { Metrics } from './metrics.ts';
import type { Finding } from './monitor.ts';

/**
 * Where metrics, words and findings go.
 *
 * A logger never throws into the loop. If it cannot write, it reports that once and goes on.
 */
export interface MetricsLogger {
  /** Records the metrics of one iteration. Within a run `step` only grows. */
  log(step: number, metrics: Metrics): void;
  /** Records a sentence for people who read the run. */
  note?(step: number, text: string): void;
  /** Records what a monitor found. */
  finding?(step: number, finding: Finding): void;
  /** Resolves once everything logged is durable. */
  close(): Promise<void>;
}
