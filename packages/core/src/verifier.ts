import * as z from 'zod';

/** Verdict of a check. `pass`, `warning` (usable, but worth a look) or `fail`. */
export type VerificationResult = 'pass' | 'warning' | 'fail';

/** What one check found out about one response. */
export interface VerificationReport {
  readonly result: VerificationResult;
  /** How well the response did, in 0..1. Higher is better. */
  readonly score: number;
  /** What the score was computed from, as JSON data. */
  readonly details: Readonly<Record<string, unknown>>;
  /** One sentence for a person. */
  readonly message: string;
}

/** A prompt and the response to judge. */
export interface VerificationRequest {
  readonly prompt: string;
  readonly response: string;
  /** What is known about the task. A verifier may find additional limits there. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Judges the quality of text, such as length, safety, coherence and facts, independent of rewards.
 *
 * Verifiers never edit. A response that cannot be judged is a `fail` with the reason in its message, not an exception.
 */
export interface Verifier {
  /** Names the check in reports and metrics. */
  readonly name: string;
  /** One report per request, in order. Rejects with the signal's reason once aborted. */
  verifyBatch(
    requests: readonly VerificationRequest[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly VerificationReport[]>;
}

/** Schema of {@link VerificationReport}. */
export const verificationReportSchema: z.ZodType<VerificationReport> = z.object({
  result: z.enum(['pass', 'warning', 'fail']),
  score: z.number().min(0).max(1),
  details: z.record(z.string(), z.unknown()),
  message: z.string(),
});
