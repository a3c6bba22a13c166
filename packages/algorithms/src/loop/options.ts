import { overlongSchema, parseOptions, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import { groupRelativeSchema } from '../advantage/group-relative.ts';
import { deadlinesSchema } from '../training/deadlines.ts';
import { rlNames } from '../training/foreign-names.ts';
import {
  aggregationSchema,
  criticSchema,
  entropyControlSchema,
  failureBudgetSchema,
  klControlSchema,
  lossSchema,
  referenceUpdateSchema,
  rewardClipSchema,
  rewardKlSchema,
  selectionSchema,
} from './option-groups.ts';

const rlShape = {
  /** Names the random streams of updates: shuffled minibatches, tokens drawn. In an algorithm class also those of `rollout`, unless `rollout.seed` is set. Default `'rl'`. */
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
  loss: lossSchema.prefault({}),
  /**
   * `'batch'` divides the weights of `loss.correction` by their mean, so the correction keeps the step size. Default
   * `'none'`.
   */
  correctionNormalization: z.enum(['none', 'batch']).default('none'),
  /** How token losses are averaged over a minibatch. See `aggregationWeights`. Default `'token-mean'`. */
  aggregation: aggregationSchema.default('token-mean'),
  /** How the KL of the loss is averaged. Defaults to `aggregation`. */
  klAggregation: aggregationSchema.optional(),
  /** How the entropy of the loss is averaged. Defaults to `aggregation`. */
  entropyAggregation: aggregationSchema.optional(),
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
  rewardClip: rewardClipSchema.optional(),
  /** Penalty for long responses, added to the reward. See `overlongPenalty`. Off by default. */
  overlong: overlongSchema.optional(),
  /** How the critic learns, if there is one. Default `{}`. */
  critic: criticSchema.prefault({}),
  /** Chooses the tokens that an update trains, by a forward pass before it. Default `{ method: 'none' }`. */
  tokenSelection: selectionSchema.prefault({ method: 'none' }),
  /** Subtracts the KL to the reference policy from the rewards. Off by default. */
  rewardKl: rewardKlSchema.optional(),
  /** Adapts the KL coefficient towards a target. See `nextKlCoefficient`. Off by default. */
  klControl: klControlSchema.optional(),
  /** Adapts the entropy coefficient towards a target. See `nextEntropyCoefficient`. Off by default. */
  entropyControl: entropyControlSchema.optional(),
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
  return parseOptions(owner, rlSchema, options, 'RlOptions');
}
