import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { longestTimerMs } from '../timer.ts';
import { keywordsSchema } from './components.ts';

const longestTimerSeconds = Math.floor(longestTimerMs / 1000);

/** Schema of {@link RewardConfig}; its output is {@link ResolvedRewardConfig}. */
export const rewardConfigSchema = z.strictObject({
  lengthWeight: z.number().default(0.1),
  keywordWeight: z.number().default(0.2),
  perplexityWeight: z.number().default(0.3),
  accuracyWeight: z.number().default(0.4),
  targetLength: z.int().positive().default(50),
  keywords: keywordsSchema
    .nullable()
    .default(null)
    .transform((keywords) => keywords ?? []),
  externalRmUrl: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  externalRmTimeout: z
    .number()
    .positive()
    .max(longestTimerSeconds, `must fit a timer (${longestTimerSeconds} s)`)
    .default(30),
  batchSize: z.int().positive().default(32),
  maxWorkers: z.int().positive().default(4),
  enableCompilation: z.boolean().default(true),
});

/** What a reward consists of. Every field may be left out. */
export interface RewardConfig {
  /** Weight of the length component. Default 0.1. A component with a weight of 0 or less is not computed. */
  readonly lengthWeight?: number | undefined;
  /** Weight of the keyword component; not computed without keywords either. Default 0.2. */
  readonly keywordWeight?: number | undefined;
  /** Weight of the fluency component. Default 0.3. */
  readonly perplexityWeight?: number | undefined;
  /** Weight of the accuracy component. Default 0.4. */
  readonly accuracyWeight?: number | undefined;
  /** Words that a response should have. Default 50. */
  readonly targetLength?: number | undefined;
  /** What a response should mention, case not counting. Default none (`null`). */
  readonly keywords?: readonly string[] | null | undefined;
  /** Address of a reward model that takes `{prompt, response, metadata}` and answers `{reward}`. Default none (`null`). */
  readonly externalRmUrl?: string | null | undefined;
  /** Seconds the external reward may take. Default 30. */
  readonly externalRmTimeout?: number | undefined;
  /** Episodes of one batch of a stream, and of one request to a fluency scorer. Default 32. */
  readonly batchSize?: number | undefined;
  /** Asynchronous calls under way at once, for each reward. Default 4. */
  readonly maxWorkers?: number | undefined;
  /** Whether texts are scanned by the WebAssembly kernel where it pays; results are the same. Default `true`. */
  readonly enableCompilation?: boolean | undefined;
}

/** A {@link RewardConfig} with its defaults. */
export interface ResolvedRewardConfig extends Readonly<z.output<typeof rewardConfigSchema>> {}

/**
 * Applies the defaults of {@link RewardConfig}.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export function resolveRewardConfig(config: RewardConfig = {}): ResolvedRewardConfig {
  return parseOptions('RewardConfig', rewardConfigSchema, config);
}
