import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { rewardConfigSchema } from '../processor/config.ts';

const adaptiveSchema = z
  .strictObject({
    /** Share of recent episodes that would not have reached the threshold, from 0 to 1. Required. */
    quantile: z.number().min(0).max(1),
    /** Number of latest scores it is computed from. Default 1024. */
    window: z.int().min(2).max(1_000_000).default(1024),
    /** Scores to see before it replaces the fixed threshold. Default 64. */
    warmup: z.int().positive().default(64),
    /** Lowest threshold. Default: no limit. */
    floor: z.number().optional(),
    /** Highest threshold. Default: no limit. */
    ceiling: z.number().optional(),
  })
  .refine(({ floor = -Infinity, ceiling = Infinity }) => floor <= ceiling, {
    path: ['ceiling'],
    message: 'must be at least floor',
  });

const schema = z
  .strictObject({
    /** Config of the reward. Default `{}`. */
    rewardConfig: rewardConfigSchema.prefault({}),
    /** Whether texts are verified. Without verification the reward alone decides. Default `true`. */
    enableVerification: z.boolean().default(true),
    /** Lowest verification score that passes, from 0 to 1. Default 0.7. */
    verificationThreshold: z.number().min(0).max(1).default(0.7),
    /** Whether reward and verification must both pass. Otherwise one is enough. Default `false`. */
    strictFiltering: z.boolean().default(false),
    /** Lowest reward that passes. Default 0.3. */
    minRewardThreshold: z.number().default(0.3),
    /** Highest reward that passes. A higher one points to a broken reward. `null`: no limit. Default 1. */
    maxRewardThreshold: z.number().nullable().default(1),
    /** Episodes per request to the verifier, and of the processor unless `rewardConfig` has its own. Default 32. */
    batchSize: z.int().positive().default(32),
    /** Thresholds that replace `minRewardThreshold` and `verificationThreshold` once there is data. Default `{}`. */
    adaptiveThresholds: z
      .strictObject({
        /** Threshold of the reward. Default none. */
        reward: adaptiveSchema.optional(),
        /** Threshold of the verification score. Default none. */
        verification: adaptiveSchema.optional(),
      })
      .default({}),
  })
  .refine(({ minRewardThreshold: low, maxRewardThreshold: high }) => high === null || high >= low, {
    path: ['maxRewardThreshold'],
    message: 'must be at least minRewardThreshold',
  });

/** A threshold that follows the data as a quantile of the latest scores. */
export interface AdaptiveThreshold extends z.input<typeof adaptiveSchema> {}

/** How episodes are scored, verified and filtered. */
export interface IntegratedRewardConfig extends z.input<typeof schema> {}

/** An {@link AdaptiveThreshold} with its defaults. */
export interface ResolvedAdaptiveThreshold extends Readonly<z.output<typeof adaptiveSchema>> {}

/** An {@link IntegratedRewardConfig} with its defaults. */
export interface ResolvedIntegratedRewardConfig extends Readonly<z.output<typeof schema>> {}

/**
 * Applies the defaults of {@link IntegratedRewardConfig}.
 *
 * @throws OptionsError naming every problem at once, those of `rewardConfig` included.
 */
export function resolveIntegratedRewardConfig(
  config: IntegratedRewardConfig = {},
): ResolvedIntegratedRewardConfig {
  return parseOptions('IntegratedRewardConfig', schema, config);
}
