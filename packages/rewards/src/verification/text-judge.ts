import type { VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { functionSchema } from '../shared/schemas.ts';
import type { VerificationContext } from './text-verifier.ts';
import { scoreReport, type VerdictThresholds } from './verdict.ts';

/**
 * A judge of one's own in place of our model: a classifier behind an API, a language model, anything that says how good a
 * response is, in 0..1. What it throws, and what is no number in 0..1, becomes a `fail` with the reason.
 */
export type TextJudge = (
  request: { readonly prompt: string; readonly response: string },
  context: VerificationContext,
) => number | Promise<number>;

/** Schema of a {@link TextJudge}. */
export const textJudgeSchema = functionSchema<TextJudge>();

/** Schema of {@link VerdictThresholds}. */
export const thresholdsSchema = z
  .strictObject({
    pass: z.number().min(0).max(1).default(0.7),
    warning: z.number().min(0).max(1).default(0.5),
  })
  .refine(({ pass, warning }) => pass >= warning, { path: ['pass'], message: 'must be at least warning' })
  .default({ pass: 0.7, warning: 0.5 });

/** The report of a judge's word. */
export async function judgedReport(
  name: string,
  judge: () => number | Promise<number>,
  thresholds: VerdictThresholds,
): Promise<VerificationReport> {
  const score: unknown = await judge();
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) {
    throw new RangeError(`the judge must give a number in 0..1, got ${String(score)}`);
  }
  return scoreReport({
    score,
    details: { by: 'judge' },
    message: `${name}: the judge says ${score.toFixed(2)}`,
    thresholds,
  });
}
