import * as z from 'zod';
import type { Metrics } from './metrics.ts';
import type { ScoredTrajectory } from './trajectory.ts';

/** Severities, from the least to the most severe. */
export const severities = ['low', 'medium', 'high', 'critical'] as const;

/** How bad a finding is, from "know about it" (`low`) to "this run is not worth continuing" (`critical`). */
export type Severity = (typeof severities)[number];

/** What a rule means, why it matters, how it may look, and what usually helps. */
export interface FindingNote {
  readonly what: string;
  readonly why: string;
  readonly example?: string | undefined;
  readonly mitigation: readonly string[];
}

/** A response that a finding quotes. */
export interface FindingExample {
  readonly response: string;
  readonly prompt: string;
  readonly reward: number | null;
  readonly components: Readonly<Record<string, number | null>>;
}

/** Something that a monitor noticed about the data the policy learns from. */
export interface Finding {
  /** Identifies the rule, such as `variance_collapse`. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence with the numbers in it. */
  readonly message: string;
  /** The numbers that the rule decided on. */
  readonly evidence: Metrics;
  /** Iteration of the batch. */
  readonly iteration: number;
  /** Ids of the trajectories that show it. */
  readonly trajectories?: readonly string[] | undefined;
  /** Reward component that it concerns. */
  readonly component?: string | undefined;
  /** Some of the responses that show it that a person should read. */
  readonly samples?: readonly string[] | undefined;
  /** The same responses in the same order, with prompt and rewards. */
  readonly examples?: readonly FindingExample[] | undefined;
  /** Phrases that these responses share and others hardly have. */
  readonly phrases?: readonly string[] | undefined;
  /** Responses seen by the monitor, including this batch. */
  readonly responsesSeen?: number | undefined;
  readonly note?: FindingNote | undefined;
}

/**
 * What a monitor asks the training loop to do, and the finding that caused it.
 *
 * - `drop`: leave these trajectories out of this iteration's updates and group statistics.
 * - `pause`: wait until an operator resumes the run.
 * - `stop`: end the run after this iteration's report. The batch is not learned from.
 * - `raise-kl`: multiply the KL coefficient by `factor`, starting with this iteration.
 * - `lower-weight`: multiply the weight of a reward component by `factor`, starting with the next iteration.
 * - `roll-back`: return to the weights of the last good checkpoint. The batch is not learned from.
 */
export type Intervention = { readonly cause: Finding } & (
  | { readonly action: 'drop'; readonly trajectories: readonly string[] }
  | { readonly action: 'pause' | 'stop' | 'roll-back' }
  | { readonly action: 'raise-kl'; readonly factor: number }
  | { readonly action: 'lower-weight'; readonly component: string; readonly factor: number }
);

/** Scored trajectories of one iteration. */
export interface MonitorBatch<Metadata = unknown> {
  readonly iteration: number;
  readonly trajectories: readonly ScoredTrajectory<Metadata>[];
  /** Other metrics of the batch, named as in `docs/metrics.md`. Example: `kl/reference`. */
  readonly metrics?: Metrics | undefined;
}

/** Result of observing one batch. */
export interface MonitorReport {
  readonly metrics: Metrics;
  /** Most severe first. */
  readonly findings: readonly Finding[];
  /** Requests to the training loop, in this order. Default none. */
  readonly interventions?: readonly Intervention[] | undefined;
}

/** Judges whether the data is still worth learning from. It requests interventions. The loop applies them. */
export interface Monitor<Metadata = unknown> {
  /** Whether people see the findings on the console at once. `train` does not print them again. Default: they do not. */
  readonly shows?: 'findings' | undefined;
  /** Judges a batch against earlier ones, then remembers it. The same history and batch give the same report. */
  observe(batch: MonitorBatch<Metadata>): MonitorReport;
  /**
   * Called after the loop rolled back. Recent observations belong to the discarded policy. Drop them. Keep what
   * good batches taught.
   */
  rolledBack?(): void;
  /** State as JSON data. Checkpoints store it. */
  saveState(): unknown;
  /** Continues from {@link Monitor.saveState}. Throws a `FormatError` on anything else. */
  loadState(state: unknown): void;
}

const exampleSchema = z.object({
  response: z.string(),
  prompt: z.string(),
  reward: z.number().nullable(),
  components: z.record(z.string(), z.number().nullable()),
});

/** Schema of {@link Finding}. */
export const findingSchema: z.ZodType<Finding> = z.object({
  rule: z.string(),
  severity: z.enum(severities),
  message: z.string(),
  evidence: z.record(z.string(), z.number()),
  iteration: z.int().nonnegative(),
  trajectories: z.array(z.string()).optional(),
  component: z.string().optional(),
  samples: z.array(z.string()).optional(),
  examples: z.array(exampleSchema).optional(),
  phrases: z.array(z.string()).optional(),
  responsesSeen: z.int().nonnegative().optional(),
  note: z
    .object({
      what: z.string(),
      why: z.string(),
      example: z.string().optional(),
      mitigation: z.array(z.string()),
    })
    .optional(),
});
