import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { type RewardConfig, rewardConfigSchema } from '../processor/config.ts';

const adaptiveSchema = z
  .strictObject({
    quantile: z.number().min(0).max(1),
    window: z.int().min(2).max(1_000_000).default(1024),
    warmup: z.int().positive().default(64),
    floor: z.number().optional(),
    ceiling: z.number().optional(),
  })
  .refine(({ floor = -Infinity, ceiling = Infinity }) => floor <= ceiling, {
    path: ['ceiling'],
    message: 'must be at least floor',
  });

const schema = z
  .strictObject({
    rewardConfig: z.custom<RewardConfig>().default(() => ({})),
    enableVerification: z.boolean().default(true),
    verificationThreshold: z.number().min(0).max(1).default(0.7),
    strictFiltering: z.boolean().default(false),
    minRewardThreshold: z.number().default(0.3),
    maxRewardThreshold: z.number().nullable().default(1),
    batchSize: z.int().positive().default(32),
    adaptiveThresholds: z
      .strictObject({ reward: adaptiveSchema.optional(), verification: adaptiveSchema.optional() })
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
export interface AdaptiveThreshold {
  /** In 0..1: the share of recent episodes that would not have reached it. */
  readonly quantile: number;
  /** Latest scores it is computed from. Default 1024. */
  readonly window?: number | undefined;
  /** Scores to see before it replaces the fixed threshold. Default 64. */
  readonly warmup?: number | undefined;
  /** Never below this. Default: no limit. */
  readonly floor?: number | undefined;
  /** Never above this. Default: no limit. */
  readonly ceiling?: number | undefined;
}

/** How episodes are scored, verified and let through. Every field may be left out. */
export interface IntegratedRewardConfig {
  readonly rewardConfig?: RewardConfig | undefined;
  /** Default `true`. Without verification the reward alone decides. */
  readonly enableVerification?: boolean | undefined;
  /** Least verification score, in 0..1. Default 0.7. */
  readonly verificationThreshold?: number | undefined;
  /** `true`: reward and verification must both pass; `false` (default): one of them is enough. */
  readonly strictFiltering?: boolean | undefined;
  /** Least reward. Default 0.3. */
  readonly minRewardThreshold?: number | undefined;
  /**
   * Largest reward, default 1: more than there is to earn is the mark of a broken reward. `null`: no limit; raise it where
   * added rewards or weights make more than 1 possible.
   */
  readonly maxRewardThreshold?: number | null | undefined;
  /** Episodes of one request to the verifier; also the processor's, unless `rewardConfig` says otherwise. Default 32. */
  readonly batchSize?: number | undefined;
  /** Thresholds that replace `minRewardThreshold` and `verificationThreshold` once there is data. Default none. */
  readonly adaptiveThresholds?:
    | {
        readonly reward?: AdaptiveThreshold | undefined;
        readonly verification?: AdaptiveThreshold | undefined;
      }
    | undefined;
}

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
