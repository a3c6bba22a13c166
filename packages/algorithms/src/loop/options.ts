import { overlongSchema, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { groupRelativeSchema } from '../advantage/group-relative.ts';
import { aggregationModes, aggregationShape } from '../aggregation.ts';
import { klEstimators } from '../loss/kl-estimate.ts';
import {
  boundsNoRatio,
  boundsRatios,
  policyLossShape,
  resolvePolicyLoss,
} from '../loss/policy-loss-options.ts';

const { keep: _, proximalKlTokens: __, ...ownLossShape } = policyLossShape;

/** The loss's options that are a loop's to give: it fills in the columns by itself. */
const lossSchema = z
  .strictObject({
    ...ownLossShape,
    correction: policyLossShape.correction.unwrap().exclude(['column']).default('sequence-mask'),
    klCoefficient: z.number().nonnegative().default(0),
    entropyCoefficient: z.number().default(0),
  })
  .refine(boundsRatios, boundsNoRatio);

const aggregationSchema = z.union([z.enum(aggregationModes), z.strictObject(aggregationShape)]);

const criticSchema = z.strictObject({
  coefficient: z.number().positive().default(0.5),
  scale: z.number().positive().default(0.5),
  clip: z.number().positive().optional(),
  clipForm: z.enum(['bounds', 'difference']).default('bounds'),
  huberDelta: z.number().positive().optional(),
  aggregation: aggregationSchema.optional(),
  epochs: z.int().min(1).optional(),
  minibatches: z.int().min(1).optional(),
  warmupIterations: z.int().nonnegative().default(0),
});

const share = z.number().min(0).max(1);

const selectionSchema = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('none') }),
  z.strictObject({ method: z.literal('high-entropy'), share: share.default(0.2) }),
  z.strictObject({
    method: z.literal('clip-covariance'),
    share: share.optional(),
    low: z.number().optional(),
    high: z.number().optional(),
  }),
  z.strictObject({ method: z.literal('kl-covariance'), share: share.optional() }),
]);

const referenceUpdateSchema = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('none') }),
  z.strictObject({ method: z.literal('copy'), everyIterations: z.int().min(1) }),
  z.strictObject({
    method: z.literal('ema'),
    decay: z.number().min(0).max(1),
    everyIterations: z.int().min(1).default(1),
  }),
]);

const rlShape = {
  seed: z.string().default('rl'),
  iterations: z.int().min(1).default(100),
  tasksPerIteration: z.int().min(1).default(8),
  epochs: z.int().min(1).default(1),
  minibatches: z.int().min(1).default(1),
  targetKl: z.number().positive().optional(),
  proximal: z.enum(['recomputed', 'behavior']).optional(),
  advantage: groupRelativeSchema.prefault({}),
  loss: lossSchema.prefault({}),
  correctionNormalization: z.enum(['none', 'batch']).default('none'),
  aggregation: aggregationSchema.default('token-mean'),
  klAggregation: aggregationSchema.optional(),
  aggregationConstant: z.number().positive().optional(),
  zeroVarianceGroups: z.enum(['count', 'skip', 'replace']).default('count'),
  collectionRounds: z.int().min(1).default(10),
  truncatedTrajectories: z.enum(['train', 'mask']).default('train'),
  overlong: overlongSchema.optional(),
  critic: criticSchema.prefault({}),
  tokenSelection: selectionSchema.prefault({ method: 'none' }),
  rewardKl: z
    .strictObject({
      coefficient: z.number().nonnegative(),
      estimator: z.enum(klEstimators).default('k1'),
      limit: z.number().positive().optional(),
      place: z.enum(['trajectory', 'token']).default('trajectory'),
    })
    .optional(),
  klControl: z.strictObject({ target: z.number().positive(), horizon: z.number().positive() }).optional(),
  entropyControl: z
    .strictObject({
      target: z.number(),
      step: z.number().positive().optional(),
      minimum: z.number().optional(),
      maximum: z.number().positive().optional(),
    })
    .optional(),
  referenceKl: z.enum(['when-penalised', 'always']).default('when-penalised'),
  loggedSamples: z.int().nonnegative().default(4),
  referenceUpdate: referenceUpdateSchema.prefault({ method: 'none' }),
};

const rlSchema = z
  .strictObject(rlShape)
  .refine(({ proximal, loss }) => proximal !== 'behavior' || loss.correction === 'none', {
    path: ['proximal'],
    message: "'behavior' needs loss.correction 'none': the ratio already contains the gap",
  })
  .refine(
    ({ correctionNormalization, loss }) => correctionNormalization === 'none' || loss.correction !== 'none',
    {
      path: ['correctionNormalization'],
      message: "'batch' divides the weights of loss.correction, which must not be 'none'",
    },
  )
  .refine(
    ({ klControl, loss, rewardKl }) =>
      klControl === undefined || loss.klCoefficient > 0 !== (rewardKl?.coefficient ?? 0) > 0,
    {
      path: ['klControl'],
      message:
        'needs one coefficient to move: give either loss.klCoefficient or rewardKl.coefficient above 0',
    },
  )
  .refine(
    ({ tokenSelection, loss }) => tokenSelection.method !== 'kl-covariance' || loss.proximalKlCoefficient > 0,
    {
      path: ['tokenSelection'],
      message: "'kl-covariance' selects the tokens of loss.proximalKlCoefficient, which must be above 0",
    },
  );

/**
 * Options of `runRlTraining`.
 *
 * - `seed` (`'rl'`): names the streams that shuffle minibatches and draw tokens.
 * - `iterations` (100): where the run ends; one that resumes counts those already made.
 * - `tasksPerIteration` (8): P, groups per iteration.
 * - `epochs` (1), `minibatches` (1): passes over an iteration's sequences, and updates per pass.
 * - `advantage`: see `groupRelativeAdvantages`; read by the estimator that the loop has where none is given.
 * - `loss`: see `policyLoss`, whose `proximal` the loop chooses by its own option
 *   `proximal` (`'recomputed'`, or `'behavior'` when `loss.correction` is `'none'`): the policy before the iteration's first
 *   update, whose logprobs are computed when there are several updates, or the sampler's logprobs.
 * - `correctionNormalization` (`'none'`): `'batch'` divides the weights of `loss.correction` by their mean over the iteration,
 *   so that the correction does not change the step's size (verl's `rollout_is_batch_normalize`).
 * - `targetKl` (off): once the policy is farther than 1.5 times this from where it stood before the iteration's first update,
 *   the iteration's remaining updates are left out. Measured before each update on its own minibatch, by a forward pass, as the
 *   mean of k3 over trained tokens, in nats (Stable-Baselines3's `target_kl`). A critic of its own goes on.
 * - `aggregation` (`'token-mean'`): a mode or the options of `aggregationWeights`; taken over each minibatch.
 *   `aggregationConstant` is its `constant`. `klAggregation` (as `aggregation`): of the KL in the loss (SkyRL has one for
 *   each).
 * - `zeroVarianceGroups` (`'count'`): groups that teach nothing count in the averages; `'skip'` leaves them out, so that
 *   the others weigh more; `'replace'` (DAPO's dynamic sampling) puts groups of further tasks in their place until there
 *   are `tasksPerIteration`, in at most `collectionRounds` (10) rounds. In no case is computation spent on tokens that
 *   cannot have a gradient.
 * - `truncatedTrajectories` (`'train'`): `'mask'` (DAPO's overlong filtering) trains no token of trajectories that a limit
 *   cut; their rewards count in their groups.
 * - `overlong` (off): see `overlongPenalty`; added to the reward by the number of sampled tokens, and reported as the
 *   component `overlong`.
 * - `critic`, read where there is one: `coefficient` (0.5) of the value loss on a shared trunk, `clip` and `huberDelta`
 *   (off), `clipForm` and `scale` (0.5) of `valueLoss`, `aggregation` (that of the policy); with a critic of its own
 *   `epochs` and `minibatches` (those of the policy), and `warmupIterations` (0) in which it alone learns.
 * - `tokenSelection` (none): tokens chosen over the whole batch of each update, by a forward pass before it:
 *   `{ method: 'high-entropy', share: 0.2 }`, `{ method: 'clip-covariance' }`, `{ method: 'kl-covariance' }` (with
 *   `loss.proximalKlCoefficient`); see `highEntropyKeep`, `clipCovarianceKeep`, `klCovarianceSelection`.
 * - `rewardKl` (off): takes `coefficient` times the KL to the reference policy off every token's reward, by `estimator`
 *   (`'k1'`), limited to ± `limit`. `place` is read by estimators that compare whole trajectories: `'trajectory'` (default,
 *   TRL): the sum is off their rewards before they are compared; `'token'` (OpenRLHF): the KL still to come is off each token's
 *   advantage after.
 * - `klControl` (off): moves the coefficient of the KL, in the loss or in the reward, towards `target`; see
 *   `nextKlCoefficient`, whose steps are trajectories. `entropyControl` (off): moves `loss.entropyCoefficient`; see
 *   `nextEntropyCoefficient`.
 * - `referenceKl` (`'when-penalised'`): `'always'` reports the KL to the reference policy even where it is not in the loss.
 * - `referenceUpdate` (none): moves the reference policy every so many iterations.
 * - `loggedSamples` (4): trajectories of an iteration that the `logger` gets as samples.
 */
export type RlOptions = z.input<typeof rlSchema>;

/** {@link RlOptions} with every default filled in. */
export type ResolvedRlOptions = z.output<typeof rlSchema>;

/**
 * Applies the defaults of {@link RlOptions}.
 *
 * @param owner - Begins the error message.
 * @throws OptionsError naming every problem at once.
 */
export function resolveRlOptions(options: RlOptions = {}, owner = 'runRlTraining'): ResolvedRlOptions {
  const resolved = parseOptions(owner, rlSchema, options);
  resolvePolicyLoss(resolved.loss);
  return resolved;
}
