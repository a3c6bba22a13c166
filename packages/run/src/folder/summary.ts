import type { Evaluation, Metrics } from '@rlp/core';
import type { MetricRow } from '@rlp/tracking';

/** Contents of `summary.json`. What the run did not do is absent. */
export interface RunSummary {
  /** Name of all random streams. */
  readonly seed: string;
  /** Weights of the model. */
  readonly parameters: number;
  /** Tasks that only measure accuracy. */
  readonly heldOutProblems: number;
  /** Shares of right responses to held-out tasks, 0 to 1. */
  readonly heldOutAccuracyBefore?: number | undefined;
  readonly heldOutAccuracyAfterSft?: number | undefined;
  readonly heldOutAccuracyAfterPreference?: number | undefined;
  readonly heldOutAccuracyAfterRl?: number | undefined;
  /** Of a run that only evaluates. */
  readonly heldOutAccuracy?: number | undefined;
  /** Training and evaluation by all processes of the run. */
  readonly seconds: number;
  readonly sftSteps?: number | undefined;
  readonly preferenceSteps?: number | undefined;
  readonly rlSteps?: number | undefined;
  /** Median over updates that do not sample, or else over iterations. */
  readonly trainTokensPerSecond?: number | undefined;
  /** Median over iterations that sample. */
  readonly generateTokensPerSecond?: number | undefined;
}

/** What a summary is made from. */
export interface SummaryParts extends Pick<RunSummary, 'seed' | 'parameters' | 'seconds'> {
  /** Stages of the run and their iterations. */
  readonly stages: Readonly<Record<string, { readonly iterations: number }>>;
  /** Evaluations on all held-out tasks: `before` training, after each stage by its name, or the only one as `final`. */
  readonly evaluations: ReadonlyMap<string, Evaluation>;
  readonly rows: readonly MetricRow[];
}

const capitalized = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`;

function accuracyField(name: string): string {
  if (name === 'before') return 'heldOutAccuracyBefore';
  return name === 'final' ? 'heldOutAccuracy' : `heldOutAccuracyAfter${capitalized(name)}`;
}

/** The figures of a run that people compare. */
export function summarize({ stages, evaluations, rows, seconds, ...rest }: SummaryParts): RunSummary {
  const accuracies = [...evaluations].map(([name, { accuracy }]) => [accuracyField(name), accuracy]);
  const updates = rows.filter(({ metrics }) => metrics['time/collect'] === undefined);
  const sampled = (metrics: Metrics) =>
    (metrics['response/tokens'] ?? 0) * (metrics['trajectories/count'] ?? 0);
  const computed = (metrics: Metrics) => metrics['tokens/computed'] ?? 0;
  return {
    ...rest,
    heldOutProblems: [...evaluations.values()].at(-1)?.tasks.length ?? 0,
    ...(Object.fromEntries(accuracies) as Partial<RunSummary>),
    seconds,
    ...(Object.fromEntries(
      Object.entries(stages).map(([name, { iterations }]) => [`${name}Steps`, iterations]),
    ) as Partial<RunSummary>),
    trainTokensPerSecond: speed(updates.length > 0 ? updates : rows, computed, 'time/learn'),
    generateTokensPerSecond: speed(rows, sampled, 'time/collect'),
  };
}

/** Median tokens per second of the rows that took this time. `undefined` if none did. */
function speed(
  rows: readonly MetricRow[],
  tokens: (metrics: Metrics) => number,
  time: string,
): number | undefined {
  const rates = rows.map(({ metrics }) => tokens(metrics) / ((metrics[time] ?? 0) / 1000));
  const sorted = rates.filter((rate) => Number.isFinite(rate) && rate > 0).sort((a, b) => a - b);
  return sorted.length === 0 ? undefined : Math.round(sorted[Math.floor(sorted.length / 2)]!);
}
