import { longestTimerMs, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { keywordsSchema } from '../stock/text/text-components.ts';

const longestTimerSeconds = Math.floor(longestTimerMs / 1000);

/** Schema of {@link RewardConfig}. */
export const rewardConfigSchema = z.strictObject({
  /** Weight of the length component. A component of weight 0 or less is not computed. Default 0.1. */
  lengthWeight: z.number().default(0.1),
  /** Weight of the keyword component. It is not computed without keywords. Default 0.2. */
  keywordWeight: z.number().default(0.2),
  /** Weight of the fluency component. Default 0.3. */
  perplexityWeight: z.number().default(0.3),
  /** Weight of the accuracy component. Without a reference answer it counts hedging phrases only: 1 for none. Default 0.4. */
  accuracyWeight: z.number().default(0.4),
  /** Words that a response should have. Default 50. */
  targetLength: z.int().positive().default(50),
  /** Texts that a response should mention, in any case. Default `null` (none). */
  keywords: keywordsSchema
    .readonly()
    .nullable()
    .default(null)
    .transform((keywords) => keywords ?? []),
  /** Address of a reward model that takes `{prompt, response, metadata}` and answers `{reward}`. Default `null` (none). */
  externalRmUrl: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** Seconds that the external reward may take. Default 30. */
  externalRmTimeout: z
    .number()
    .positive()
    .max(longestTimerSeconds, `must fit a timer (${longestTimerSeconds} s)`)
    .default(30),
  /** Episodes per batch of a stream, and per request to a fluency scorer. Default 32. */
  batchSize: z.int().positive().default(32),
  /** Asynchronous calls in progress at once, for each reward. Default 4. */
  maxWorkers: z.int().positive().default(4),
});

/** Parts of a reward and their weights. Every field is optional. */
export interface RewardConfig extends z.input<typeof rewardConfigSchema> {}

/** A {@link RewardConfig} with its defaults. */
export interface ResolvedRewardConfig extends Readonly<z.output<typeof rewardConfigSchema>> {}

/** Applies the defaults of {@link RewardConfig}. */
export function resolveRewardConfig(config: RewardConfig = {}): ResolvedRewardConfig {
  return parseOptions('RewardConfig', rewardConfigSchema, config);
}
