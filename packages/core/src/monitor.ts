import * as z from 'zod';
import type { Metrics } from './metrics.ts';
import type { ScoredTrajectory } from './trajectory.ts';

/** How bad a finding is: from "know about it" (`low`) to "this run is not worth continuing" (`critical`). */
export type Severity = 'low' | 'medium' | 'high' | 'critical';

/** Something that a monitor noticed about the data the policy learns from. */
export interface Finding {
  /** Identifies the rule, such as `variance_collapse`. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence with the numbers in it. */
  readonly message: string;
  /** The numbers the rule decided on. */
  readonly evidence: Metrics;
  /** Iteration of the batch it was found in. */
  readonly iteration: number;
  /** Ids of the trajectories that show it, where it is about some. */
  readonly trajectories?: readonly string[] | undefined;
}

/**
 * What a monitor asks the training loop to do, and the finding it asks it for.
 *
 * - `drop`: leave these trajectories out of this iteration's updates and group statistics, by their ids.
 * - `pause`: wait, until whoever watches the run lets it go on.
 * - `stop`: end the run after this iteration's report, without learning from its batch.
 * - `raise-kl`: multiply the coefficient of the KL to the reference policy by `factor`, from this iteration on.
 * - `lower-weight`: multiply the weight of a reward component by `factor`, from the next iteration on.
 * - `roll-back`: return to the weights of the last checkpoint that was good, without learning from this batch.
 */
export type Intervention = { readonly cause: Finding } & (
  | { readonly action: 'drop'; readonly trajectories: readonly string[] }
  | { readonly action: 'pause' | 'stop' | 'roll-back' }
  | { readonly action: 'raise-kl'; readonly factor: number }
  | { readonly action: 'lower-weight'; readonly component: string; readonly factor: number }
);

/** What a monitor looks at: one iteration's scored trajectories. */
export interface MonitorBatch<Metadata = unknown> {
  readonly iteration: number;
  readonly trajectories: readonly ScoredTrajectory<Metadata>[];
  /** What else is known of the batch, by the names of `docs/metrics.md`: `kl/reference`, for one. */
  readonly metrics?: Metrics | undefined;
}

/** What a monitor says about one batch. */
export interface MonitorReport {
  readonly metrics: Metrics;
  /** Most severe first. */
  readonly findings: readonly Finding[];
  /** What should be done about them, in this order; nothing by default. */
  readonly interventions?: readonly Intervention[] | undefined;
}

/** Asks whether the data is still worth learning from. It observes and asks for interventions; the loop carries them out. */
export interface Monitor<Metadata = unknown> {
  /** Judges a batch against those seen before, then remembers it. Same history and batch give the same report. */
  observe(batch: MonitorBatch<Metadata>): MonitorReport;
  /**
   * Told by the loop once the policy is back at earlier weights, as a `roll-back` asked for: what it saw of late tells of a policy
   * that is no more, and counts no longer against the one there is. What good batches taught it stays.
   */
  rolledBack?(): void;
  /** What it remembers, as JSON data, for a checkpoint. */
  saveState(): unknown;
  /** Continues from {@link Monitor.saveState}. Throws a `FormatError` on anything else. */
  loadState(state: unknown): void;
}

/** Schema of {@link Finding}. */
export const findingSchema: z.ZodType<Finding> = z.object({
  rule: z.string(),
  severity: z.enum(['low', 'medium', 'high', 'critical']),
  message: z.string(),
  evidence: z.record(z.string(), z.number()),
  iteration: z.int().nonnegative(),
  trajectories: z.array(z.string()).optional(),
});
