import { tagName } from '@rlp/answers/text';
import { callback } from '@rlp/core';
import * as z from 'zod';

const share = z.number().min(0).max(1);

const thresholdSchema = z.strictObject({
  /** Alerts if more than this share of a reward's window lies at its maximum. Default 0.9. */
  rewardSaturationHigh: share.default(0.9),
  /** Alerts if more than this share of a reward's window lies at its minimum. Default 0.9. */
  rewardSaturationLow: share.default(0.9),
  /** Alerts if the standard deviation of a reward is below this share of its mean. Default 0.01. */
  varianceCollapse: z.number().nonnegative().default(0.01),
  /** Alerts if more than this share of the formatted responses has next to no content. Default 0.3. */
  formatGaming: share.default(0.3),
  /** Alerts if the mean repetition of a batch is higher. Default 0.5. */
  repetition: share.default(0.5),
  /** Alerts if more than this share of a batch is empty or malformed. Default 0.2. */
  emptyContent: share.default(0.2),
  /** Alerts if a smaller share of the last `diversityWindow` responses is different. Default 0.1. */
  diversityCollapse: share.default(0.1),
  /** Alerts if a reward lies more deviations from those before its batch. Default 3. */
  rewardSpikeStd: z.number().positive().default(3),
});

const tagsSchema = z.strictObject({
  /** Name of the tag around the reasoning. Default `'reasoning'`. */
  reasoning: tagName.default('reasoning'),
  /** Name of the tag around the answer. Default `'answer'`. */
  answer: tagName.default('answer'),
});

/** Schema of {@link AssessorOptions}. */
export const assessorOptions = z.strictObject({
  /** Values of each reward that statistics are computed over. Default 1000. */
  windowSize: z.int().min(1).default(1000),
  /** Responses before the first alert, and values before a reward is judged. At most a full window. Default 100. */
  minSamplesForAnalysis: z.int().min(1).default(100),
  /** Thresholds to change. The others keep their defaults. */
  alertThresholds: thresholdSchema.prefault({}),
  /** Names of the tags in responses. `'none'` for plain text. Default `reasoning` and `answer`. */
  tags: z
    .union([z.literal('none'), tagsSchema], "expected { reasoning, answer } with the tags' names, or 'none'")
    .prefault({}),
  /** Responses that diversity is judged over, at most `windowSize`. Default 500. */
  diversityWindow: z.int().min(2).default(500),
  /** Share of common word sequences at which two responses count as equal. `'off'` compares texts. Default 0.8. */
  nearDuplicates: z.union([z.literal('off'), z.number().gt(0).max(1)]).default(0.8),
  /** Whether one letter or digit is an answer. `'reject'` counts it as format gaming. Default `'accept'`. */
  singleCharacterAnswers: z.enum(['accept', 'reject']).default('accept'),
  /**
   * Findings that honest learning explains as well. Default `'report'`.
   *
   * - `'report'`: they have their usual severity.
   * - `'lower'`: they have severity `low`. A reward may saturate at its top if it rose gradually or another reward teaches. No other
   *   reward may have lost half of what it paid. Short reasoning does not count as format gaming if it differs between tasks, is not
   *   much shorter than before, and earns the other rewards as usual. Text without tags is not malformed while no learned
   *   format is lost. Diversity is judged by the number of tasks.
   */
  explainedByLearning: z.enum(['report', 'lower']).default('report'),
  /** Decision rules. `'tunrex'` reproduces TunRex, see `docs/quality-monitor.md`. Default `'rlp'`. */
  conventions: z.enum(['rlp', 'tunrex']).default('rlp'),
  /** Scores how much a response reads like text, in 0–1. Default: a heuristic. If it fails, the response is skipped. */
  coherence: callback<(response: string) => number>().optional(),
});

/** Options of `RewardQualityAssessor`. */
export interface AssessorOptions extends z.input<typeof assessorOptions> {}

/** {@link AssessorOptions} with defaults. */
export type ResolvedAssessorOptions = z.output<typeof assessorOptions>;
