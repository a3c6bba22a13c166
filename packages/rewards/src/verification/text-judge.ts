import type { VerificationReport } from '@rlp/core';
import { callback, type NamedSchema } from '@rlp/core';
import * as z from 'zod';
import { TextVerifier, type VerificationContext, verifierLimitsSchema } from './text-verifier.ts';
import { defaultThresholds, scoreReport, type VerdictThresholds } from './verdict.ts';

/**
 * Your judge in place of our model. It returns how good a response is, from 0 to 1. If it throws or returns anything else, the
 * response fails with the reason.
 */
export type TextJudge = (
  request: { readonly prompt: string; readonly response: string },
  context: VerificationContext,
) => number | Promise<number>;

/** What `verify` is given. */
export type Verified = readonly [prompt: string, response: string, context: VerificationContext];

const thresholds = z
  .strictObject({
    /** Lowest score that passes. Default 0.7. */
    pass: z.number().min(0).max(1).default(0.7),
    /** Lowest score that warns. Default 0.5. */
    warning: z.number().min(0).max(1).default(0.5),
  })
  .refine(({ pass, warning }) => pass >= warning, { path: ['pass'], message: 'must be at least warning' });

/** Lowest scores that pass and warn. */
export interface VerdictThresholdOptions extends z.input<typeof thresholds> {}

/** Schema of {@link VerdictThresholdOptions}. */
export const thresholdsSchema = (
  thresholds as NamedSchema<VerdictThresholdOptions, VerdictThresholds>
).default(defaultThresholds);

/** Schema of the options of every {@link JudgedVerifier}. */
export const judgedSchema = verifierLimitsSchema.extend({
  /** Judge that replaces our model. Default none. */
  judge: callback<TextJudge>().optional(),
  /** Lowest scores that pass and warn. Default `{ pass: 0.7, warning: 0.5 }`. */
  thresholds: thresholdsSchema,
});

/** A verifier whose model can be replaced by a judge. */
export abstract class JudgedVerifier<Options extends z.output<typeof judgedSchema>> extends TextVerifier {
  protected readonly options: Options;

  constructor(options: Options) {
    const { timeoutMs, concurrency } = options;
    super({ timeoutMs, concurrency });
    this.options = options;
  }

  /** The report of our model. */
  protected abstract byModel(...given: Verified): VerificationReport | Promise<VerificationReport>;

  override verify(...given: Verified): VerificationReport | Promise<VerificationReport> {
    const { judge } = this.options;
    if (judge === undefined) return this.byModel(...given);
    const [prompt, response, context] = given;
    return this.#byJudge(judge, { prompt, response }, context);
  }

  async #byJudge(judge: TextJudge, ...given: Parameters<TextJudge>): Promise<VerificationReport> {
    const score: unknown = await judge(...given);
    if (typeof score !== 'number' || !(score >= 0 && score <= 1)) {
      throw new RangeError(`expected a number from 0 to 1 of the judge, got ${String(score)}`);
    }
    const message = `${this.name}: the judge says ${score.toFixed(2)}`;
    return scoreReport({ score, details: { by: 'judge' }, message, thresholds: this.options.thresholds });
  }
}
