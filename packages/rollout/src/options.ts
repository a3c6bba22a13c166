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
  seed: z.string().default('rollout'),
  groupSize: z.int().min(1).default(8),
  concurrency: z.int().min(1).default(64),
  maxTurns: z.int().min(1).default(16),
  sampling: samplingSchema.prefault({}),
  contextLength: z.int().min(2).optional(),
  /**
   * How a conversation continues after a response.
   *
   * `'sampled'` appends what the chat template writes after the response to the tokens that were sampled, so a dialogue is
   * one training row. `'template'` renders the whole conversation again. If the template rewrites history, each turn
   * becomes its own row. Default `'sampled'`.
   */
  history: z.enum(['sampled', 'template']).default('sampled'),
  environmentTimeoutMs: z
    .number()
    .positive()
    .max(2_147_483_647, 'must fit a timer (2^31 − 1 ms)')
    .default(30_000),
  onFailure: z.enum(['keep', 'drop-member', 'drop-group', 'stop']).default('keep'),
});

/**
 * What a caller may write; every field is optional.
 *
 * - `seed` (`'rollout'`): names the run's random streams.
 * - `groupSize` (8): G, trajectories per task.
 * - `concurrency` (64): groups under way at once.
 * - `maxTurns` (16): responses per episode, after which it is `truncated`.
 * - `sampling` (256 tokens at temperature 1): how tokens are drawn; `maxTokens` counts per turn.
 * - `contextLength` (the sampler's affair): tokens the policy can attend to. With it, a turn's budget shrinks to what is left.
 * - `environmentTimeoutMs` (30 000): milliseconds that `reset` and `updateState` may take.
 * - `onFailure` (`'keep'`): what becomes of trajectories that failed. `'keep'` leaves them in their group with status `failed`;
 *   `'drop-member'` takes them out; `'drop-group'` leaves their whole group out; `'stop'` throws their error.
 */
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
