import { overlongSchema, parseOptions, timerMs, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import { groupRelativeSchema } from '../advantage/group-relative.ts';
import { aggregationModes, aggregationShape } from '../loss/aggregation.ts';
import { klEstimators } from '../loss/kl-estimate.ts';
import {
  boundsNoRatio,
  boundsRatios,
  lossNames,
  policyLossShape,
  resolvePolicyLoss,
} from '../loss/policy-loss-options.ts';
import { deadlinesSchema } from '../training/deadlines.ts';
import { rlNames } from '../training/foreign-names.ts';

const { keep: _, proximalKlTokens: __, ...ownLossShape } = policyLossShape;

/** The loss's options that are a loop's to give: it fills in the columns by itself. */
const lossSchema = z
  .strictObject({
    ...ownLossShape,
    /** Corrects the gap between sampler and trainer. See `samplerWeights`. Default `'sequence-mask'`. */
    correction: policyLossShape.correction.unwrap().exclude(['column']).default('sequence-mask'),
    /** Multiplies the KL to the reference policy in the loss. Default 0. */
    klCoefficient: z.number().nonnegative().default(0),
    /** Rewards entropy by this factor. Default 0. */
    entropyCoefficient: z.number().default(0),
  })
  .refine(boundsRatios, boundsNoRatio);

const aggregationSchema = z.union([z.enum(aggregationModes), z.strictObject(aggregationShape)]);

const criticSchema = z.strictObject({
  /** Weight of the value loss if critic and policy share their weights. Default 0.5. */
  coefficient: z.number().positive().default(0.5),
  /** Factor of the squared error. Default 0.5. */
  scale: z.number().positive().default(0.5),
  /** Maximum change of a value per iteration. See `valueLoss`. Off by default. */
  clip: z.number().positive().optional(),
  /** How the clipped value is written. See `valueLoss`. Default `'bounds'`. */
  clipForm: z.enum(['bounds', 'difference']).default('bounds'),
  /** Errors beyond this count linearly. Off by default. */
  huberDelta: z.number().positive().optional(),
  /** How value losses are averaged. Defaults to the policy's aggregation. */
  aggregation: aggregationSchema.optional(),
  /** Passes over the sequences for a separate critic. Defaults to the policy's `epochs`. */
  epochs: z.int().min(1).optional(),
  /** Updates per pass for a separate critic. Defaults to the policy's `minibatches`. */
  minibatches: z.int().min(1).optional(),
  /** First iterations, in which only a separate critic learns. Default 0. */
  warmupIterations: z.int().nonnegative().default(0),
});

const share = z.number().min(0).max(1);

const selectionSchema = z.discriminatedUnion('method', [
  z.strictObject({
    /** Does nothing. */
    method: z.literal('none'),
  }),
  z.strictObject({
    /** Trains only the tokens with the highest entropy. */
    method: z.literal('high-entropy'),
    /** Share of the tokens that is trained, 0 to 1. Default 0.2. */
    share: share.default(0.2),
  }),
  z.strictObject({
    /** Drops tokens whose covariance of logprob and advantage is high (Clip-Cov). */
    method: z.literal('clip-covariance'),
    /** Share of the tokens that is dropped, 0 to 1. Default 0.0002. */
    share: share.optional(),
    /** Only tokens with a larger covariance are dropped. Default 1. */
    low: z.number().optional(),
    /** Only tokens with a smaller covariance are dropped. Default 5. */
    high: z.number().optional(),
  }),
  z.strictObject({
    /** Applies `loss.proximalKlCoefficient` to the tokens with the highest covariance only (KL-Cov). */
    method: z.literal('kl-covariance'),
    /** Share of the tokens that is selected, 0 to 1. Default 0.0002. */
    share: share.optional(),
  }),
]);

const referenceUpdateSchema = z.discriminatedUnion('method', [
  z.strictObject({
    /** Does nothing. */
    method: z.literal('none'),
  }),
  z.strictObject({
    /** Replaces the reference policy by the policy. */
    method: z.literal('copy'),
    /** Iterations between two updates. */
    everyIterations: z.int().min(1),
  }),
  z.strictObject({
    /** Moves the reference policy towards the policy. */
    method: z.literal('ema'),
    /** Share of the reference policy that stays, 0 to 1. */
    decay: z.number().min(0).max(1),
    /** Iterations between two updates. Default 1. */
    everyIterations: z.int().min(1).default(1),
  }),
]);

const failureBudgetSchema = z.strictObject({
  /**
   * Share of an iteration's trajectories without a reward at which the iteration is lost, 0 to 1. Its tasks are given back and
   * collected again. Default 1.
   */
  share: z.number().gt(0).max(1).default(1),
  /** Times in a row that a lost iteration is tried again. Default 5. */
  retries: z.int().nonnegative().default(5),
  /** Pause before the first of them, in milliseconds. It doubles with each, up to a minute. Default 1000. */
  backOffMs: timerMs.default(1000),
  /** Iterations from the start of a run in which the rewards of every group may be equal. Default 20. */
  flatIterations: z.int().min(1).default(20),
  /**
   * Largest mean gap between the logprobs of sampler and trainer while both have the same weights, in nats. Above a tenth of it
   * the report has a note. Default 1.
   */
  samplerGap: z.number().positive().default(1),
  /** `'continue'` goes on with what there is instead of stopping. Default `'stop'`. */
  whenSpent: z.enum(['stop', 'continue']).default('stop'),
});

const rlShape = {
  /** Names the random streams that shuffle minibatches and draw tokens. Default `'rl'`. */
  seed: z.string().default('rl'),
  /** Total iterations. A resumed run counts the ones already done. Default 100. */
  iterations: z.int().min(1).default(100),
  /** Groups per iteration. Default 8. */
  tasksPerIteration: z.int().min(1).default(8),
  /**
   * Iterations whose groups are sampled before they are learned from. 0 samples and learns in turn. With n, weights that sampled an
   * episode's first turn are at most n publications old when it is learned from. Default 0.
   */
  lookAhead: z.int().nonnegative().default(0),
  /**
   * What a publication does while groups are sampled ahead. `'wait'` lets them end first, so each episode has one version of the weights
   * and runs stay reproducible. `'continue'` publishes at once. Episodes then mix versions, which their steps record. Default `'wait'`.
   */
  publishWhileSampling: z.enum(['wait', 'continue']).default('wait'),
  /** Passes over an iteration's sequences. Default 1. */
  epochs: z.int().min(1).default(1),
  /** Optimizer steps per pass. Default 1. */
  minibatches: z.int().min(1).default(1),
  /**
   * Skips the iteration's remaining updates when the policy has moved more than 1.5 times this KL, in nats. Costs a forward
   * pass per update. Off by default.
   */
  targetKl: z.number().positive().optional(),
  /**
   * Policy that the ratio is taken to: the trainer's before the first update (`'recomputed'`) or the sampler's
   * (`'behavior'`, needs `loss.correction: 'none'`). Default `'recomputed'`.
   */
  proximal: z.enum(['recomputed', 'behavior']).optional(),
  /** How rewards become advantages if no estimator is passed. See `groupRelativeAdvantages`. Default `{}`. */
  advantage: groupRelativeSchema.prefault({}),
  /** The loss of the policy. See `policyLoss`. Default `{}`. */
  loss: withForeignNames(lossSchema, lossNames).prefault({}),
  /**
   * `'batch'` divides the weights of `loss.correction` by their mean, so the correction keeps the step size. Default
   * `'none'`.
   */
  correctionNormalization: z.enum(['none', 'batch']).default('none'),
  /** How token losses are averaged over a minibatch. See `aggregationWeights`. Default `'token-mean'`. */
  aggregation: aggregationSchema.default('token-mean'),
  /** How the KL of the loss is averaged. Defaults to `aggregation`. */
  klAggregation: aggregationSchema.optional(),
  /** Divisor of the `-norm` aggregations, in tokens. Defaults to the length of the longest sequence. */
  aggregationConstant: z.number().positive().optional(),
  /**
   * Groups whose rewards are all equal. `'count'` averages over them too, `'skip'` leaves them out, `'replace'` collects
   * others instead (DAPO's dynamic sampling). Default `'count'`.
   */
  zeroVarianceGroups: z.enum(['count', 'skip', 'replace']).default('count'),
  /** Maximum rounds of collection with `zeroVarianceGroups: 'replace'` or a group filter. Default 10. */
  collectionRounds: z.int().min(1).default(10),
  /** `'mask'` does not train on trajectories that a limit cut (DAPO's overlong filtering). Default `'train'`. */
  truncatedTrajectories: z.enum(['train', 'mask']).default('train'),
  /** Limits rewards to this range, before penalties and before they are compared (TRL's `reward_clip_range`). Off by default. */
  rewardClip: z
    .strictObject({
      /** Smallest reward. */
      low: z.number(),
      /** Largest reward. */
      high: z.number(),
    })
    .refine(({ low, high }) => low < high, { path: ['low'], message: 'must be below high' })
    .optional(),
  /** Penalty for long responses, added to the reward. See `overlongPenalty`. Off by default. */
  overlong: overlongSchema.optional(),
  /** How the critic learns, if there is one. Default `{}`. */
  critic: criticSchema.prefault({}),
  /** Chooses the tokens that an update trains, by a forward pass before it. Default `{ method: 'none' }`. */
  tokenSelection: selectionSchema.prefault({ method: 'none' }),
  /** Subtracts the KL to the reference policy from the rewards. Off by default. */
  rewardKl: z
    .strictObject({
      /** Multiplies the KL. */
      coefficient: z.number().nonnegative(),
      /** Estimator of the KL. See `klEstimate`. Default `'k1'`. */
      estimator: z.enum(klEstimators).default('k1'),
      /** Limit of a token's KL in both directions, in nats. Off by default. */
      limit: z.number().positive().optional(),
      /**
       * `'trajectory'` subtracts the sum before trajectories are compared (TRL). `'token'` subtracts from each token's
       * advantage after (OpenRLHF). Default `'trajectory'`.
       */
      place: z.enum(['trajectory', 'token']).default('trajectory'),
    })
    .optional(),
  /** Adapts the KL coefficient towards a target. See `nextKlCoefficient`. Off by default. */
  klControl: z
    .strictObject({
      /** KL to reach, in nats. */
      target: z.number().positive(),
      /** Trajectories over which a fully wrong KL changes the coefficient by a fifth. */
      horizon: z.number().positive(),
    })
    .optional(),
  /** Adapts the entropy coefficient towards a target. See `nextEntropyCoefficient`. Off by default. */
  entropyControl: z
    .strictObject({
      /** Entropy to reach, in nats. */
      target: z.number(),
      /** Change of the coefficient per iteration. Default 0.005. */
      step: z.number().positive().optional(),
      /** Smallest coefficient. Default 0. */
      minimum: z.number().optional(),
      /** Largest coefficient. Default 1. */
      maximum: z.number().positive().optional(),
    })
    .optional(),
  /** `'always'` reports the KL to the reference policy even if the loss does not use it. Default `'when-penalised'`. */
  referenceKl: z.enum(['when-penalised', 'always']).default('when-penalised'),
  /** What the run bears before it stops by itself with a `RunStoppedError`. Default `{}`. */
  failureBudget: failureBudgetSchema.prefault({}),
  /** How long the run waits for others. Default `{}`. */
  deadlines: deadlinesSchema.prefault({}),
  /** Trajectories per iteration that the logger receives as samples. Default 4. */
  loggedSamples: z.int().nonnegative().default(4),
  /** Moves the reference policy during the run. Default `{ method: 'none' }`. */
  referenceUpdate: referenceUpdateSchema.prefault({ method: 'none' }),
};

/** Schema of {@link RlOptions}. */
export const rlSchema = withForeignNames(z.strictObject(rlShape), rlNames)
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

/** Options of `runRlTraining`. */
export interface RlOptions extends z.input<typeof rlSchema> {}

/** {@link RlOptions} with every default filled in. */
export type ResolvedRlOptions = z.output<typeof rlSchema>;

/**
 * Applies the defaults of {@link RlOptions}.
 *
 * @param owner - Begins the error message.
 * @throws OptionsError naming every problem at once.
 */
export function resolveRlOptions(options: RlOptions = {}, owner = 'runRlTraining'): ResolvedRlOptions {
  const resolved = parseOptions(owner, rlSchema, options, 'RlOptions');
  resolvePolicyLoss(resolved.loss);
  return resolved;
}
