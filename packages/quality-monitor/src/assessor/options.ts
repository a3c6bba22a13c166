import { parseOptions } from '@rlp/core';
import * as z from 'zod';

const share = z.number().min(0).max(1);

const thresholdShape = {
  rewardSaturationHigh: share.default(0.9),
  rewardSaturationLow: share.default(0.9),
  varianceCollapse: z.number().nonnegative().default(0.01),
  formatGaming: share.default(0.3),
  repetition: share.default(0.5),
  emptyContent: share.default(0.2),
  diversityCollapse: share.default(0.1),
  rewardSpikeStd: z.number().positive().default(3),
};

const schema = z.strictObject({
  windowSize: z.int().min(1).default(1000),
  minSamplesForAnalysis: z.int().min(1).default(100),
  alertThresholds: z.strictObject(thresholdShape).prefault({}),
  tags: z
    .union(
      [
        z.literal('none'),
        z.strictObject({
          reasoning: z.string().min(1).default('reasoning'),
          answer: z.string().min(1).default('answer'),
        }),
      ],
      `expected { reasoning, answer } with the tags' names, or 'none'`,
    )
    .prefault({}),
  diversityWindow: z.int().min(2).default(500),
  nearDuplicates: z.union([z.literal('off'), z.number().gt(0).max(1)]).default(0.8),
  singleCharacterAnswers: z.enum(['accept', 'reject']).default('accept'),
  conventions: z.enum(['rlp', 'tunrex']).default('rlp'),
  coherence: z
    .custom<(response: string) => number>((value) => typeof value === 'function', 'must be a function')
    .optional(),
});

/**
 * Options of `RewardQualityAssessor`.
 *
 * - `windowSize` (1000): rewards of each component that statistics are taken over.
 * - `minSamplesForAnalysis` (100): responses seen before the first alert, and values of a reward before it is judged; a full
 *   window is enough where that is smaller.
 * - `alertThresholds`, each of them optional:
 *
 *   | threshold (default) | alerts when |
 *   |---|---|
 *   | `rewardSaturationHigh`, `rewardSaturationLow` (0.9) | this share of a reward's window lies at its maximum or minimum |
 *   | `varianceCollapse` (0.01) | a reward's deviation is below this share of its mean |
 *   | `formatGaming` (0.3) | this share of the batch's formatted responses has next to no content |
 *   | `repetition` (0.5) | mean repetition of the batch is above |
 *   | `emptyContent` (0.2) | this share of the batch is empty or malformed |
 *   | `diversityCollapse` (0.1) | less than this share of the last `diversityWindow` responses is different |
 *   | `rewardSpikeStd` (3) | a reward lies this many deviations from those before its batch |
 *
 * - `tags` (`reasoning`, `answer`): what a response is made of. `'none'`: plain text, so that none is formatted, and only one without
 *   a letter or digit is empty.
 * - `diversityWindow` (500): responses that diversity is judged over, at most `windowSize`.
 * - `nearDuplicates` (0.8): share of word sequences in common from which on two responses count as the same; `'off'`: only
 *   equal text does.
 * - `singleCharacterAnswers` (`'accept'`): one letter or digit answers a question of choice or number; `'reject'` takes it for
 *   format gaming, as the original.
 * - `conventions` (`'rlp'`): `'tunrex'` decides as the original does, in places where we decide otherwise on purpose; see
 *   `docs/quality-monitor.md`.
 * - `coherence`: judges a response in 0..1 instead of the built-in heuristic. A response that it throws for, or gives no number, is
 *   left out of the mean; `faults` of the assessment say so.
 */
export type AssessorOptions = z.input<typeof schema>;

/** {@link AssessorOptions} with every default filled in. */
export type ResolvedAssessorOptions = z.output<typeof schema>;

/** Thresholds of alerts; see {@link AssessorOptions}. */
export type AlertThresholds = ResolvedAssessorOptions['alertThresholds'];

/** Applies the defaults. @throws OptionsError naming every problem at once. */
export function resolveAssessorOptions(options: AssessorOptions = {}): ResolvedAssessorOptions {
  return parseOptions('RewardQualityAssessor', schema, options);
}
