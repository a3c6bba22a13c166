import type { Measure, Severity } from '@rlp/core';
import type { Curve } from './curve.ts';

/** What a page shows of several runs, without their curves. */
export interface RunsView {
  readonly runs: readonly RunView[];
  /** Names of all metrics, sorted. */
  readonly metrics: readonly string[];
  /** What could not be read, a sentence each. */
  readonly problems: readonly string[];
}

/** What a page shows of a run. */
export interface RunView {
  /** Unique among the runs of a page, such as the path of its folder. */
  readonly name: string;
  readonly mode?: string | undefined;
  readonly status?: string | undefined;
  /** Why it failed. */
  readonly problem?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly seconds?: number | undefined;
  /** Iterations that were logged. */
  readonly iterations: number;
  /** Whether rows that were logged before are still being read. Default false. */
  readonly isReading?: boolean | undefined;
  /** Whether its curves are drawn from some of their rows, until all are read. Extremes may be missing. Default false. */
  readonly isOverview?: boolean | undefined;
  /** Options by their place, such as `algorithm.loss.clipHigh`, as JSON. */
  readonly configuration: Readonly<Record<string, string>>;
  /** Seed. Runs that differ in nothing else are drawn as one band. */
  readonly seed?: string | undefined;
  readonly host?: string | undefined;
  /** Tokens that were trained on, and seconds, up to each step. For curves over something else than steps. */
  readonly spent: { readonly tokens?: Curve | undefined; readonly seconds?: Curve | undefined };
  readonly scores: readonly RunScore[];
  readonly notes: readonly RunNote[];
  readonly samples: readonly RunSample[];
  /** Whether it recorded trajectories. */
  readonly hasTrajectories: boolean;
}

/** An evaluation. Numbers that nothing was scored for are absent. */
export interface RunScore {
  /** Name of the evaluation, such as `final`. */
  readonly name: string;
  readonly accuracy?: number | undefined;
  /** Ends of the confidence interval. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** Mean reward, with the ends of its confidence interval. */
  readonly reward?: Pick<Measure, 'value' | 'low' | 'high'> | undefined;
  readonly tasks: number;
}

/** Notes of one kind, or findings of one rule. */
export interface RunNote {
  readonly text: string;
  /** Severity of a finding. Absent for a note. */
  readonly severity?: Severity | undefined;
  /** Rule of a finding. */
  readonly rule?: string | undefined;
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

/** A response to a held-out task, in one of the evaluations. */
export interface RunSample {
  readonly evaluation: string;
  readonly task: string;
  readonly prompt: string;
  readonly response: string;
  /** `null` if it could not be scored. */
  readonly reward: number | null;
}
