import {
  callback,
  parseOptions,
  type VerificationReport,
  type VerificationRequest,
  type Verifier,
} from '@rlp/core';
import * as z from 'zod';
import { clockSchema } from '../shared/schemas.ts';
import {
  TextVerifier,
  type VerificationContext,
  type VerifierStatistics,
  verifierLimitsSchema,
} from '../verification/text-verifier.ts';
import { scoreReport } from '../verification/verdict.ts';
import type { RewardContext } from './judgement.ts';

/** A score from 0 to 1 (0.7 passes, 0.5 warns), right or wrong, or a whole report. */
export type VerifierJudgement = number | boolean | VerificationReport;

const schema = verifierLimitsSchema.extend({
  /** Name in reports. Required. */
  name: z.string().min(1),
  /** Judges one response. Both texts are well-formed. Required. */
  verify:
    callback<
      (
        request: VerificationRequest,
        context: RewardContext,
      ) => VerifierJudgement | PromiseLike<VerifierJudgement>
    >(),
  /** Milliseconds since any fixed point. Default `performance.now`. */
  clock: clockSchema,
});

/** Your own verifier. */
export interface VerifierDefinition extends z.input<typeof schema> {}

/** A verifier with counts. */
export interface AuthoredVerifier extends Verifier {
  /** Counts since it was made. `milliseconds` from call to judgement, summed over calls. */
  getStatistics(): VerifierStatistics & { readonly milliseconds: number };
}

/** A verifier from a function, synchronous or not. If it throws or returns no valid judgement, the response fails and is counted. */
export function verifier(definition: VerifierDefinition): AuthoredVerifier {
  const { name, verify, clock, ...limits } = parseOptions('verifier', schema, definition);
  let milliseconds = 0;
  const texts = new (class extends TextVerifier {
    readonly name = name;

    override async verify(
      prompt: string,
      response: string,
      context: VerificationContext,
    ): Promise<VerificationReport> {
      const begun = clock();
      try {
        return reportOf(name, await verify({ prompt, response, metadata: context.metadata }, context));
      } finally {
        milliseconds += clock() - begun;
      }
    }
  })(limits);
  return {
    name,
    verifyBatch: (requests, options) => texts.verifyBatch(requests, options),
    getStatistics: () => ({ ...texts.getStatistics(), milliseconds }),
  };
}

function reportOf(name: string, judgement: VerifierJudgement): VerificationReport {
  // A report is looked at by the base class, as one of any verifier.
  if (typeof judgement === 'object') return judgement;
  const score = typeof judgement === 'boolean' ? Number(judgement) : judgement;
  if (typeof score === 'number' && score >= 0 && score <= 1) {
    return scoreReport({ score, message: `"${name}" gives it ${score}` });
  }
  throw new RangeError(`expected a score in 0..1, true, false or a report, got ${String(judgement)}`);
}
