import * as z from 'zod';
import type { Metrics } from './metrics.ts';
import type { Finding } from './monitor.ts';

/** One sampled trajectory, for people who read the run. */
export interface LoggedSample {
  /** Id of the task. */
  readonly task: string;
  /** What the policy was asked, as text. */
  readonly prompt: string;
  /** The last response. */
  readonly response: string;
  /** `null` if it could not be scored. */
  readonly reward: number | null;
  /** Named parts of the reward before weighting. */
  readonly components: Readonly<Record<string, number | null>>;
}

/** Schema of {@link LoggedSample}. */
export const loggedSampleSchema: z.ZodType<LoggedSample> = z.strictObject({
  task: z.string(),
  prompt: z.string(),
  response: z.string(),
  reward: z.number().nullable(),
  components: z.record(z.string(), z.number().nullable()),
});

/**
 * Where metrics, words, samples and findings go. Only `log` and `close` are required.
 *
 * A logger never throws into the loop. If it cannot write, it reports that once and goes on.
 */
export interface MetricsLogger {
  /**
   * What people see on the console at once: all that is logged (`'console'`), or findings. `train` does not print it again. Default:
   * nothing.
   */
  readonly shows?: 'console' | 'findings' | undefined;
  /** Records the metrics of one iteration. Within a run `step` only grows. */
  log(step: number, metrics: Metrics): void;
  /** Records a sentence for people who read the run. */
  note?(step: number, text: string): void;
  /** Records a few sampled trajectories of the iteration. */
  samples?(step: number, rows: readonly LoggedSample[]): void;
  /** Records what a monitor found. */
  finding?(step: number, finding: Finding): void;
  /** Resolves once everything logged is durable. */
  close(): Promise<void>;
}

/** One call of a logger as data: a line of a log file. */
export type LogRow = { readonly step: number } & (
  | { readonly metrics: Metrics }
  | { readonly note: string }
  | { readonly samples: readonly LoggedSample[] }
  | { readonly finding: Finding }
);
