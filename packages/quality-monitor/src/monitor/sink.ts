import type { Metrics, Severity } from '@rlp/core';
import type { PathologyType } from '../assessor/alert.ts';

/** One alert as it stands in a log file. */
export interface AlertRecord {
  readonly step: number;
  /** Responses assessed when it was raised. */
  readonly timestamp: number;
  readonly severity: Severity;
  readonly pathologyType: PathologyType | (string & {});
  readonly message: string;
  readonly metrics: Metrics;
  readonly rewardName?: string | undefined;
  /** Some of the responses it is about, for a person to look at. */
  readonly samples?: readonly string[] | undefined;
}

/** What a monitor did or asked for, and why. */
export interface InterventionRecord {
  readonly step: number;
  readonly action: string;
  readonly cause: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** All that is known of one batch. */
export interface MonitorRecord {
  readonly step: number;
  /** Flat, with the seed's names: `format_compliance_rate`, `reward_accuracy_mean`… */
  readonly metrics: Metrics;
  /** Those that are reported: severe enough, and within the rate limit. */
  readonly alerts: readonly AlertRecord[];
  readonly interventions: readonly InterventionRecord[];
}

/**
 * Where a monitor's records go. Whatever a sink throws, or a promise that it returns rejects with, is counted and reported once:
 * monitoring never ends a run.
 */
export interface MonitorSink {
  /** Names the sink in reports of its failure. */
  readonly name: string;
  /** Nobody waits for a promise that it returns but the monitor's `close`. */
  write(record: MonitorRecord): unknown;
  /** Resolves once everything written is durable. */
  close?(): Promise<void>;
}
