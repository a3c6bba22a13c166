import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { type RewardConfig, rewardConfigSchema } from '../processor/config.ts';

const adaptiveSchema = z
  .strictObject({
    /** In 0..1: the share of recent episodes that would not have reached it. */
    quantile: z.number().min(0).max(1),
    /** Latest scores it is computed from. Default 1024. */
    window: z.int().min(2).max(1_000_000).default(1024),
    /** Scores to see before it replaces the fixed threshold. Default 64. */
    warmup: z.int().positive().default(64),
    /** Never below this. Default: no limit. */
    floor: z.number().optional(),
    /** Never above this. Default: no limit. */
    ceiling: z.number().optional(),
  })
  .refine(({ floor = -Infinity, ceiling = Infinity }) => floor <= ceiling, {
    path: ['ceiling'],
    message: 'must be at least floor',
  });

const schema = z
  .strictObject({
    /** How episodes are scored; see {@link RewardConfig}. */
    rewardConfig: z.custom<RewardConfig>().default(() => ({})),
    /** Default `true`. Without verification the reward alone decides. */
    enableVerification: z.boolean().default(true),
    /** Least verification score, in 0..1. Default 0.7. */
    verificationThreshold: z.number().min(0).max(1).default(0.7),
    /** `true`: reward and verification must both pass; `false` (default): one of them is enough. */
    strictFiltering: z.boolean().default(false),
    /** Least reward. Default 0.3. */
    minRewardThreshold: z.number().default(0.3),
    /**
     * Largest reward, default 1: more than there is to earn is the mark of a broken reward. `null`: no limit; raise it where
     * added rewards or weights make more than 1 possible.
     */
    maxRewardThreshold: z.number().nullable().default(1),
    /** Episodes of one request to the verifier; also the processor's, unless `rewardConfig` says otherwise. Default 32. */
    batchSize: z.int().positive().default(32),
    /** The processor's, unless `rewardConfig` says otherwise. Default `true`. */
    enableCompilation: z.boolean().default(true),
    /** Thresholds that replace `minRewardThreshold` and `verificationThreshold` once there is data. Default none. */
    adaptiveThresholds: z
      .strictObject({ reward: adaptiveSchema.optional(), verification: adaptiveSchema.optional() })
      .readonly()
      .default(() => ({})),
  })
  .superRefine(({ rewardConfig, minRewardThreshold, maxRewardThreshold }, context) => {
    const { error } = rewardConfigSchema.safeParse(rewardConfig);
    for (const { message, path } of error?.issues ?? []) {
      context.addIssue({ code: 'custom', message, path: ['rewardConfig', ...path] });
    }
    if (maxRewardThreshold !== null && maxRewardThreshold < minRewardThreshold) {
      context.addIssue({
        code: 'custom',
        path: ['maxRewardThreshold'],
        message: 'must be at least minRewardThreshold',
      });
    }
  });

/** A threshold that follows the data: a quantile of the latest scores. */
export interface AdaptiveThreshold extends Readonly<z.input<typeof adaptiveSchema>> {}

/** How episodes are scored, verified and let through. Every field may be left out. */
export interface IntegratedRewardConfig extends Readonly<z.input<typeof schema>> {}

/** An {@link AdaptiveThreshold} with its defaults. */
export interface ResolvedAdaptiveThreshold extends Readonly<z.output<typeof adaptiveSchema>> {}

/** An {@link IntegratedRewardConfig} with its defaults. */
export interface ResolvedIntegratedRewardConfig extends Readonly<z.output<typeof schema>> {}

/**
 * Applies the defaults of {@link IntegratedRewardConfig}.
 *
 * @throws `OptionsError` naming every problem at once, those of `rewardConfig` included.
 */
export function resolveIntegratedRewardConfig(
  config: IntegratedRewardConfig = {},
): ResolvedIntegratedRewardConfig {
  return parseOptions('IntegratedRewardConfig', schema, config);
}
