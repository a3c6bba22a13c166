/** Options that are groups of options, each with an interface that hovers and messages name. */
import { type NamedSchema, timerMs, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import { aggregationModes, lossAggregationSchema } from '../loss/aggregation.ts';
import { klEstimators } from '../loss/kl-estimate.ts';
import {
  checkClipBounds,
  checkSurrogate,
  correctionOrder,
  lossNames,
  policyLossShape,
} from '../loss/policy-loss-options.ts';

const { keep: _, proximalKlTokens: __, ...ownLossShape } = policyLossShape;

/** The loss's options that are a loop's to give: it fills in the columns by itself. */
const lossFields = z
  .strictObject({
    ...ownLossShape,
    /** Corrects the gap between sampler and trainer. See `samplerWeights`. Default `'sequence-mask'`. */
    correction: policyLossShape.correction.unwrap().exclude(['column']).default('sequence-mask'),
    /** Multiplies the KL to the reference policy in the loss. Default 0. */
    klCoefficient: z.number().nonnegative().default(0),
    /** Rewards entropy by this factor. Default 0. */
    entropyCoefficient: z.number().default(0),
  })
  .check(checkClipBounds)
  .check(checkSurrogate)
  .refine(({ correctionFloor = 0, correctionCap }) => correctionFloor <= correctionCap, correctionOrder);

/** Options of the loss that a loop computes. */
export interface RlLossOptions extends z.input<typeof lossFields> {}

/** {@link RlLossOptions} with every default filled in. */
export interface ResolvedRlLossOptions extends z.output<typeof lossFields> {}

/** Schema of {@link RlLossOptions}. */
export const lossSchema: NamedSchema<RlLossOptions, ResolvedRlLossOptions> = withForeignNames(
  lossFields,
  lossNames,
);

/** How token losses are averaged. */
export const aggregationSchema = z.union([z.enum(aggregationModes), lossAggregationSchema]);

const criticFields = z.strictObject({
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

/** How a critic learns. */
export interface CriticOptions extends z.input<typeof criticFields> {}

/** {@link CriticOptions} with every default filled in. */
export interface ResolvedCriticOptions extends z.output<typeof criticFields> {}

/** Schema of {@link CriticOptions}. */
export const criticSchema: NamedSchema<CriticOptions, ResolvedCriticOptions> = criticFields;

const share = z.number().min(0).max(1);

const selections = z.discriminatedUnion('method', [
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

/** Chooses the tokens that an update trains. */
export type TokenSelectionOptions = z.input<typeof selections>;

/** {@link TokenSelectionOptions} with every default filled in. */
export type ResolvedTokenSelectionOptions = z.output<typeof selections>;

/** Schema of {@link TokenSelectionOptions}. */
export const selectionSchema: NamedSchema<TokenSelectionOptions, ResolvedTokenSelectionOptions> = selections;

const referenceUpdates = z.discriminatedUnion('method', [
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

/** Moves the reference policy during a run. */
export type ReferenceUpdateOptions = z.input<typeof referenceUpdates>;

/** {@link ReferenceUpdateOptions} with every default filled in. */
export type ResolvedReferenceUpdateOptions = z.output<typeof referenceUpdates>;

/** Schema of {@link ReferenceUpdateOptions}. */
export const referenceUpdateSchema: NamedSchema<ReferenceUpdateOptions, ResolvedReferenceUpdateOptions> =
  referenceUpdates;

const failureBudgetFields = z.strictObject({
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

/** What a run bears before it stops by itself. */
export interface FailureBudgetOptions extends z.input<typeof failureBudgetFields> {}

/** {@link FailureBudgetOptions} with every default filled in. */
export interface ResolvedFailureBudgetOptions extends z.output<typeof failureBudgetFields> {}

/** Schema of {@link FailureBudgetOptions}. */
export const failureBudgetSchema: NamedSchema<FailureBudgetOptions, ResolvedFailureBudgetOptions> =
  failureBudgetFields;

const rewardClipFields = z
  .strictObject({
    /** Smallest reward. */
    low: z.number(),
    /** Largest reward. */
    high: z.number(),
  })
  .refine(({ low, high }) => low < high, { path: ['low'], message: 'must be below high' });

/** Range of rewards. */
export interface RewardClipOptions extends z.input<typeof rewardClipFields> {}

/** {@link RewardClipOptions} with every default filled in. */
export interface ResolvedRewardClipOptions extends z.output<typeof rewardClipFields> {}

/** Schema of {@link RewardClipOptions}. */
export const rewardClipSchema: NamedSchema<RewardClipOptions, ResolvedRewardClipOptions> = rewardClipFields;

const rewardKlFields = z.strictObject({
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
});

/** How the KL to the reference policy lowers rewards. */
export interface RewardKlOptions extends z.input<typeof rewardKlFields> {}

/** {@link RewardKlOptions} with every default filled in. */
export interface ResolvedRewardKlOptions extends z.output<typeof rewardKlFields> {}

/** Schema of {@link RewardKlOptions}. */
export const rewardKlSchema: NamedSchema<RewardKlOptions, ResolvedRewardKlOptions> = rewardKlFields;

const klControlFields = z.strictObject({
  /** KL to reach, in nats. */
  target: z.number().positive(),
  /** Trajectories over which a fully wrong KL changes the coefficient by a fifth. */
  horizon: z.number().positive(),
});

/** How the KL coefficient moves. */
export interface KlControlOptions extends z.input<typeof klControlFields> {}

/** {@link KlControlOptions} with every default filled in. */
export interface ResolvedKlControlOptions extends z.output<typeof klControlFields> {}

/** Schema of {@link KlControlOptions}. */
export const klControlSchema: NamedSchema<KlControlOptions, ResolvedKlControlOptions> = klControlFields;

const entropyControlFields = z.strictObject({
  /** Entropy to reach, in nats. */
  target: z.number(),
  /** Change of the coefficient per iteration. Default 0.005. */
  step: z.number().positive().optional(),
  /** Smallest coefficient. Default 0. */
  minimum: z.number().optional(),
  /** Largest coefficient. Default 1. */
  maximum: z.number().positive().optional(),
});

/** How the entropy coefficient moves. */
export interface EntropyControlOptions extends z.input<typeof entropyControlFields> {}

/** {@link EntropyControlOptions} with every default filled in. */
export interface ResolvedEntropyControlOptions extends z.output<typeof entropyControlFields> {}

/** Schema of {@link EntropyControlOptions}. */
export const entropyControlSchema: NamedSchema<EntropyControlOptions, ResolvedEntropyControlOptions> =
  entropyControlFields;
