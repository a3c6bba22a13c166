import { parseOptions } from '@rlp/core';
import * as z from 'zod';

const samplingSchema = z.strictObject({
  maxTokens: z.int().min(1).default(256),
  temperature: z.number().nonnegative().default(1),
  repetitionPenalty: z.number().min(1).optional(),
  topK: z.int().nonnegative().optional(),
  topP: z.number().gt(0).max(1).optional(),
  minP: z.number().min(0).max(1).optional(),
  stopTokens: z.array(z.int().nonnegative()).readonly().optional(),
  stopStrings: z.array(z.string().min(1)).readonly().optional(),
});

/** Schema of {@link RolloutOptions}. */
export const rolloutSchema = z.strictObject({
  /** Names the run's random streams. Default `'rollout'`. */
  seed: z.string().default('rollout'),
  /** G: trajectories per task. Default 8. */
  groupSize: z.int().min(1).default(8),
  /** Groups under way at once. Default 64. */
  concurrency: z.int().min(1).default(64),
  /** Responses per episode, after which it is `truncated`. Default 16. */
  maxTurns: z.int().min(1).default(16),
  /** How tokens are drawn; `maxTokens` counts per turn. Default 256 tokens at temperature 1. */
  sampling: samplingSchema.prefault({}),
  /** Tokens the policy can attend to. With it, a turn's budget shrinks to what is left. Default: the sampler's affair. */
  contextLength: z.int().min(2).optional(),
  /** Milliseconds that `reset` and `updateState` may take. Default 30 000. */
  environmentTimeoutMs: z
    .number()
    .positive()
    .max(2_147_483_647, 'must fit a timer (2^31 − 1 ms)')
    .default(30_000),
  /**
   * What becomes of trajectories that failed. `keep` (default) leaves them in their group with status `failed`;
   * `drop-member` takes them out; `drop-group` leaves their whole group out; `stop` throws their error.
   */
  onFailure: z.enum(['keep', 'drop-member', 'drop-group', 'stop']).default('keep'),
});

/** What a caller may write; every field is optional. See the fields of {@link ResolvedRolloutOptions}. */
export type RolloutOptions = z.input<typeof rolloutSchema>;

/** What the manager reads; every field with a default is present. */
export type ResolvedRolloutOptions = z.output<typeof rolloutSchema>;

/**
 * Applies the defaults of {@link RolloutOptions}.
 *
 * @throws `OptionsError` naming every problem at once.
 */
export function resolveRolloutOptions(options: RolloutOptions = {}): ResolvedRolloutOptions {
  return parseOptions('RolloutManager', rolloutSchema, options);
}
