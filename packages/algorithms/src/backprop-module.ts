import {
  ArgumentError,
  type CriticBackend,
  type ForwardBackwardResult,
  hasGroup,
  having,
  type Loss,
  type OptimStepResult,
  parseOptions,
  requireGroups,
  type TrainingBackend,
  TrainingError,
  type TrainingSequence,
  type Trajectory,
  tokenSequences,
} from '@rlp/core';
import * as z from 'zod';
import { type GaeResult, gae } from './advantage/gae.ts';
import { criticLoss } from './loop/critic-loss.ts';
import { criticSequences } from './loop/critic-update.ts';
import type { Experience } from './loop/experience.ts';
import { type ResolvedRlOptions, resolveRlOptions } from './loop/options.ts';
import { policyLossOf, policySequences } from './loop/policy-update.ts';
import { type Score, scoreSequences } from './loop/scores.ts';
import { aggregationModes } from './loss/aggregation.ts';
import { type DecisionNumbers, numbersPerToken, spreadOverSequence } from './sequence/decision-numbers.ts';
import type { TokenRows } from './statistics/token-rows.ts';
import { whitened } from './statistics/whitened.ts';
import { backendWith } from './training/backend-with.ts';

const schema = z.strictObject({
  /** Discount γ between decisions. Default 0.99. */
  gamma: z.number().min(0).max(1).default(0.99),
  /** λ of GAE. Default 0.95. */
  gaeLambda: z.number().min(0).max(1).default(0.95),
  /** The ratio's bounds are `1 ± ppoClipRange`. Default 0.2. */
  ppoClipRange: z.number().positive().max(1).default(0.2),
  /** Multiplies the k3 estimate of the KL to the reference policy. 0 needs no reference. Default 0.1. */
  klCoefficient: z.number().nonnegative().default(0.1),
  /** Standardises advantages over all entries, or leaves them. Default `'batch'`. */
  normalizeAdvantages: z.enum(['batch', 'none']).default('batch'),
  /** Rewards entropy by this factor. Default 0. */
  entropyCoefficient: z.number().default(0),
  /** Multiplies the critic's loss `½ (V − R)²`. Default 1. */
  valueCoefficient: z.number().positive().default(1),
  /** How token losses are averaged. See `aggregationWeights`. Default `'token-mean'`. */
  aggregation: z.enum(aggregationModes).default('token-mean'),
  /** Temperature at which the trajectories were sampled. Default 1. */
  temperature: z.number().positive().default(1),
});

/** Options of {@link BackpropModule}. */
export interface BackpropOptions extends z.input<typeof schema> {}

/** What {@link BackpropModule} works with. */
export interface BackpropDependencies {
  /** The policy, its optimizer and its reference policy. */
  readonly backend: TrainingBackend;
  /** Learns values with the same losses. The backend itself, where policy and critic share their trunk. */
  readonly critic?: CriticBackend | undefined;
}

const dependencySchema = z.strictObject({
  backend: backendWith('forwardBackward', 'optimStep', 'logprobs'),
  critic: having<CriticBackend>('values', 'a backend with values').optional(),
} satisfies Record<keyof BackpropDependencies, z.ZodType>);

/** Advantages, normalised if the options say so, and the critic's targets. Each `[B][N]`. */
export interface AdvantageEstimate {
  readonly advantages: TokenRows;
  readonly returns: TokenRows;
}

/** A loss whose gradient waits for {@link BackpropModule.update}. */
export interface PendingLoss {
  /** Of the policy and, with its coefficient, of the critic. */
  readonly value: number;
  /** Metrics of `policyLoss`, means over trained tokens. With a critic also `loss/value`. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly tokens: ForwardBackwardResult['tokens'];
}

/** Result of an update. */
export interface BackpropUpdate extends OptimStepResult {
  /** Update of a critic that is not the backend. */
  readonly critic?: OptimStepResult | undefined;
}

/**
 * Advantages, the PPO loss and the update, as steps for your own loop. They run the code of `runRlTraining`.
 *
 * Backends compute a loss and its gradient in one pass. So {@link BackpropModule.computePpoLoss} runs both and adds the
 * gradient to the backend's. {@link BackpropModule.update} applies it. Each loss is applied once, in the order of creation.
 */
export class BackpropModule {
  readonly #backend: TrainingBackend;
  readonly #critic: CriticBackend | undefined;
  readonly #options: z.output<typeof schema>;
  /** The same as options of the loop. */
  readonly #loop: ResolvedRlOptions;
  readonly #loss: Loss;
  readonly #pending = new Set<PendingLoss>();

  /** @throws OptionsError for options outside their ranges, and for dependencies that are missing or not known. */
  constructor(dependencies: BackpropDependencies, options: BackpropOptions = {}) {
    parseOptions('BackpropModule', dependencySchema, dependencies, 'BackpropDependencies');
    this.#backend = dependencies.backend;
    this.#critic = dependencies.critic;
    this.#options = parseOptions('BackpropModule', schema, options, 'BackpropOptions');
    const { ppoClipRange, klCoefficient, entropyCoefficient, aggregation } = this.#options;
    this.#loop = resolveRlOptions(
      {
        loss: {
          clipLow: ppoClipRange,
          clipHigh: ppoClipRange,
          correction: 'none',
          klCoefficient,
          entropyCoefficient,
        },
        aggregation,
      },
      'BackpropModule',
    );
    this.#loss = policyLossOf(this.#loop, { klForm: 'fixed' });
  }

  /**
   * Generalized advantage estimation over rows of rewards. See `gae`.
   *
   * @param rewards - One per decision: per step, or per sampled token. Shape `[B][N]`.
   * @param values - The critic's before each; a row with one more has the value of the state after the last. Default of that: 0.
   * @throws ArgumentError for numbers that are not finite or rows that do not fit.
   */
  computeAdvantages(rewards: TokenRows, values: TokenRows): GaeResult {
    const { gamma: discount, gaeLambda: lambda, normalizeAdvantages } = this.#options;
    const before = values.map((row, b) =>
      row.length === (rewards[b]?.length ?? 0) + 1 ? Array.from(row).slice(0, -1) : row,
    );
    const finalValues = values.map((row, b) => (before[b] === row ? 0 : row[row.length - 1]!));
    const { advantages, returns } = gae({ rewards, values: before, finalValues }, { discount, lambda });
    if (normalizeAdvantages === 'none') return { advantages, returns };
    return { advantages: whitened(advantages, undefined, { epsilonPlacement: 'added' }), returns };
  }

  /**
   * The clipped PPO loss with the KL to the reference policy, and its gradient.
   *
   *     L = −min(ρ·A, clip(ρ, 1 ± ε)·A) + c_KL · k3(π_ref, π)        ρ = π / π_behaviour
   *
   * @param estimate - Of {@link BackpropModule.computeAdvantages}; or advantages alone, one entry per trajectory, if
   *   no critic is given. A row has as many numbers as its trajectory has steps or, failing that, sampled tokens.
   * @throws ArgumentError for advantages that do not fit the trajectories; what the backend throws for its reference policy
   *   and for numbers that are not finite: the losses computed since the last update are then to be computed anew.
   */
  async computePpoLoss(
    trajectories: readonly Trajectory[],
    estimate: AdvantageEstimate | readonly DecisionNumbers[],
  ): Promise<PendingLoss> {
    const { advantages, returns } = isEstimate(estimate) ? estimate : { advantages: estimate };
    if (this.#critic !== undefined && returns === undefined) {
      throw new ArgumentError(
        'computePpoLoss: a critic learns from returns; pass what computeAdvantages gave, with its advantages and returns',
      );
    }
    const experience = await this.#experienceOf(trajectories, { advantages, returns });
    const rows = [...experience.sequences.keys()];
    const { temperature } = this.#options;
    const context = {
      backend: this.#backend,
      loss: this.#loss,
      options: this.#loop,
      iteration: 0,
      temperature,
    };
    const coefficients = { kl: this.#options.klCoefficient, klForm: 'fixed', entropy: 0 } as const;
    const sequences = policySequences(experience, rows, { ...context, coefficients, isShared: false });
    const policy = await this.#backend.forwardBackward({ sequences }, this.#loss).then(undefined, (error) => {
      // With it the backend has thrown the gradients of those before it away.
      if (error instanceof TrainingError) this.#pending.clear();
      throw error;
    });
    const valueLoss = criticLoss(this.#loop.critic);
    const critic = await this.#critic?.forwardBackward(
      { sequences: this.#forCritic(experience, rows) },
      valueLoss,
    );
    const loss: PendingLoss = {
      value: policy.loss + (critic?.loss ?? 0),
      metrics: { ...policy.metrics, ...(critic && { 'loss/value': critic.metrics['loss/value']! }) },
      tokens: policy.tokens,
    };
    this.#pending.add(loss);
    return loss;
  }

  /**
   * Makes one optimizer update of the policy, and of a critic that is not the backend, with the sum of the losses' gradients.
   *
   * @param losses - Every loss computed since the last update: its gradient is already in the backend's.
   * @throws ArgumentError for a loss that was applied before or is another module's, and for a pending one left out.
   */
  async update(losses: PendingLoss | readonly PendingLoss[]): Promise<BackpropUpdate> {
    const given = new Set('value' in losses ? [losses] : losses);
    const unknown = [...given].filter((loss) => !this.#pending.has(loss)).length;
    if (unknown > 0) {
      throw new ArgumentError(
        `update: ${unknown} of ${given.size} losses were applied before, lost or are not of this module; compute them anew`,
      );
    }
    if (given.size !== this.#pending.size || given.size === 0) {
      throw new ArgumentError(
        `update: expected all ${this.#pending.size} losses computed since the last update, got ${given.size}: ` +
          'their gradients are summed already; pass them together',
      );
    }
    this.#pending.clear();
    const own = this.#critic === this.#backend ? undefined : this.#critic;
    const [policy, critic] = await Promise.all([this.#backend.optimStep(), own?.optimStep()]);
    return { ...policy, ...(critic && { critic }) };
  }

  /**
   * Moves the reference policy to the policy (`'copy'`), or towards it, `ref ← decay·ref + (1 − decay)·policy` (`'ema'`).
   *
   * @param update - `decay` is read by `'ema'`, default 0.99.
   */
  async updateRefModel(
    update: { readonly method: 'copy' } | { readonly method: 'ema'; readonly decay?: number } = {
      method: 'ema',
    },
  ): Promise<void> {
    const { method } = update;
    const backend = this.#backend;
    requireGroups('updateRefModel', backend, [{ option: method, group: 'reference' }]);
    if (!hasGroup(backend, 'reference')) return;
    await backend.updateReference(method === 'copy' ? { method } : { method, decay: update.decay ?? 0.99 });
  }

  /** The trajectories' sequences with all that the losses read, as the loop's. */
  async #experienceOf(
    trajectories: readonly Trajectory[],
    decisions: { readonly advantages: readonly DecisionNumbers[]; readonly returns?: TokenRows | undefined },
  ): Promise<Experience> {
    const cut = trajectories.flatMap(({ steps }, b) =>
      tokenSequences(steps).map((sequence) => ({ sequence, b })),
    );
    const spread = (name: string, numbers: readonly DecisionNumbers[]): TokenRows => {
      const perToken = numbersPerToken(name, numbers, trajectories);
      return cut.map(({ sequence, b }) => spreadOverSequence(sequence, perToken[b]!));
    };
    const { advantages, returns } = decisions;
    const columns = {
      advantages: spread('advantages', advantages),
      ...(returns && { returns: spread('returns', returns) }),
    };
    const sequences = cut.map(({ sequence }) => sequence);
    const wanted = new Set<Score>(this.#loss.columns.includes('referenceLogprobs') ? ['reference'] : []);
    const { temperature } = this.#options;
    const scores = await scoreSequences(sequences, wanted, { backend: this.#backend, temperature });
    return { sequences, scores, ...columns };
  }

  /** The critic's sequences, weighed by its coefficient. */
  #forCritic(experience: Experience, rows: readonly number[]): TrainingSequence[] {
    const { valueCoefficient, temperature } = this.#options;
    return criticSequences(experience, rows, { options: this.#loop, temperature }).map((sequence) => ({
      ...sequence,
      weights: Float64Array.from(sequence.weights, (weight) => weight * valueCoefficient),
    }));
  }
}

function isEstimate(estimate: AdvantageEstimate | readonly DecisionNumbers[]): estimate is AdvantageEstimate {
  return 'returns' in estimate;
}
