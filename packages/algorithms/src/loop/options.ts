import { parseOptions } from '@rlp/core';
import { z } from 'zod';
import { groupRelativeSchema } from '../advantage/group-relative.ts';
import { aggregationModes } from '../aggregation.ts';
import { policyLossShape, resolvePolicyLoss } from '../loss/policy-loss-options.ts';

const rlSchema = z.strictObject({
  seed: z.string().default('rl'),
  iterations: z.int().min(1).default(100),
  tasksPerIteration: z.int().min(1).default(8),
  epochs: z.int().min(1).default(1),
  minibatches: z.int().min(1).default(1),
  advantage: groupRelativeSchema.prefault({}),
  loss: z.strictObject(policyLossShape).prefault({}),
  aggregation: z.enum(aggregationModes).default('token-mean'),
  aggregationConstant: z.number().positive().optional(),
  zeroVarianceGroups: z.enum(['count', 'skip']).default('count'),
  referenceKl: z.enum(['when-penalised', 'always']).default('when-penalised'),
  referenceUpdate: z
    .discriminatedUnion('method', [
      z.strictObject({ method: z.literal('none') }),
      z.strictObject({ method: z.literal('copy'), everyIterations: z.int().min(1) }),
      z.strictObject({
        method: z.literal('ema'),
        decay: z.number().min(0).max(1),
        everyIterations: z.int().min(1).default(1),
      }),
    ])
    .prefault({ method: 'none' }),
});

/**
 * Options of `runRlTraining`.
 *
 * - `seed` (`'rl'`): names the streams that shuffle minibatches.
 * - `iterations` (100): where the run ends; one that resumes counts those already made.
 * - `tasksPerIteration` (8): P, groups per iteration.
 * - `epochs` (1), `minibatches` (1): passes over an iteration's sequences, and updates per pass.
 * - `advantage`: see `groupRelativeAdvantages`; `loss`: see `policyLoss`, whose `proximal` the loop chooses: the policy
 *   itself when an iteration makes one update, logprobs recomputed before the first update when it makes several, and the
 *   sampler's logprobs when `correction` is `'none'`.
 * - `aggregation` (`'token-mean'`), `aggregationConstant`: see `aggregationWeights`; taken over each minibatch.
 * - `zeroVarianceGroups` (`'count'`): groups that teach nothing count in the averages; `'skip'` leaves them out, so that
 *   the others weigh more. Either way no computation is spent on tokens that cannot have a gradient.
 * - `referenceKl` (`'when-penalised'`): `'always'` reports the KL to the reference policy even where it is not in the loss.
 * - `referenceUpdate` (none): moves the reference policy every so many iterations.
 */
export type RlOptions = z.input<typeof rlSchema>;

/** {@link RlOptions} with every default filled in. */
export type ResolvedRlOptions = z.output<typeof rlSchema>;

/**
 * Applies the defaults of {@link RlOptions}.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveRlOptions(options: RlOptions = {}): ResolvedRlOptions {
  const resolved = parseOptions('runRlTraining', rlSchema, options);
  resolvePolicyLoss(resolved.loss);
  return resolved;
}

const sftSchema = z
  .strictObject({
    seed: z.string().default('sft'),
    epochs: z.number().positive().optional(),
    updates: z.int().min(1).optional(),
    tokensPerBatch: z.int().min(1).optional(),
    sequencesPerBatch: z.int().min(1).default(32),
    aggregation: z.enum(aggregationModes).default('token-mean'),
  })
  .refine(({ epochs, updates }) => epochs === undefined || updates === undefined, {
    path: ['updates'],
    message: 'must not be given together with epochs: both say how long the run is',
  });

/**
 * Options of `runSftTraining`.
 *
 * - `seed` (`'sft'`): names the streams that shuffle the examples, one per epoch.
 * - `epochs` (1) or `updates`: the length of the run.
 * - `sequencesPerBatch` (32), `tokensPerBatch` (no limit): a batch is full when either is reached.
 * - `aggregation` (`'token-mean'`): see `aggregationWeights`.
 */
export type SftOptions = z.input<typeof sftSchema>;

/** {@link SftOptions} with every default filled in. */
export type ResolvedSftOptions = z.output<typeof sftSchema>;

/**
 * Applies the defaults of {@link SftOptions}.
 *
 * @throws OptionsError naming every problem at once.
 */
export function resolveSftOptions(options: SftOptions = {}): ResolvedSftOptions {
  return parseOptions('runSftTraining', sftSchema, options);
}
