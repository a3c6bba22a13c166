import type { VerificationReport, VerificationResult } from '@rlp/core';

/** From which scores a report passes or warns. */
export interface VerdictThresholds {
  /** Scores from here on pass. Default 0.7. */
  readonly pass: number;
  /** Scores from here on, below `pass`, warn. Lower ones fail. Default 0.5. */
  readonly warning: number;
}

/**
 * Scale of our verifiers. They `pass` from 0.7, give a `warning` from 0.5, and `fail` below. So scores of different
 * verifiers can be compared, and a threshold of 0.7 on a score means "passes".
 */
export const defaultThresholds: VerdictThresholds = { pass: 0.7, warning: 0.5 };

/** The verdict that a score in 0..1 stands for. */
export function verdictOf(score: number, { pass, warning } = defaultThresholds): VerificationResult {
  if (score >= pass) return 'pass';
  return score >= warning ? 'warning' : 'fail';
}

/** What {@link scoreReport} makes a report from. */
export interface ScoreReportInput {
  /** Clamped to 0..1. NaN counts as 0. */
  readonly score: number;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly thresholds?: VerdictThresholds | undefined;
}

/** A report whose verdict follows from its score by {@link verdictOf}. */
export function scoreReport(input: ScoreReportInput): VerificationReport {
  const { score, message, details = {}, thresholds } = input;
  const bounded = score > 0 ? Math.min(1, score) : 0;
  return { result: verdictOf(bounded, thresholds), score: bounded, details, message };
}
