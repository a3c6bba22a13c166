import { type ForeignNames, parseOptions, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import { ratioLevels } from './importance-ratio.ts';
import { klEstimators } from './kl-estimate.ts';
import { samplerCorrections } from './sampler-correction.ts';
import {
  type SurrogateKind,
  type SurrogateParameters,
  surrogateDefaults,
  surrogateKinds,
} from './surrogates.ts';

const gammaSchema = z.strictObject({
  /** Exponent of the ratio. */
  power: z.number().nonnegative(),
  /** Decay rate of the ratio. */
  rate: z.number().min(1e-4),
});

/** The surrogates' own parameters. */
const surrogateShape = {
  /** The ratio's lower bound is `1 − clipLow`. Above 0, for `cispo` at least 0. Default by surrogate: 0.2 for `clip`, 1 for `cispo`, 0.4 for `gmpo`. */
  clipLow: z.number().min(0).optional(),
  /** The ratio's upper bound is `1 + clipHigh`. Above 0, for `cispo` above −1. Default by surrogate: 0.28 for `clip`, 4 for `cispo`, 0.4 for `gmpo`. */
  clipHigh: z.number().gt(-1).optional(),
  /** Caps the loss of tokens with negative advantage at this multiple of it. Read by `clip`. Off by default. */
  dualClip: z.number().gt(1).optional(),
  /** Caps the unclipped ratio (TRL's `delta`). Read by `clip`. Off by default. */
  ratioCap: z.number().gt(1).optional(),
  /** Temperature of `sapo` for positive advantages. Default 1. */
  temperaturePositive: z.number().positive().optional(),
  /** Temperature of `sapo` for other advantages. Default 1.05. */
  temperatureNegative: z.number().positive().optional(),
  /** Divergence that `dppo` bounds. Default `'total-variation'`. */
  divergence: z.enum(['total-variation', 'kl']).optional(),
  /** Bound of `dppo` for ratios below 1. Default 0.15. */
  divergenceLow: z.number().nonnegative().optional(),
  /** Bound of `dppo` for ratios above 1. Default 0.15. */
  divergenceHigh: z.number().nonnegative().optional(),
  /** Tokens beyond the bound that `dppo` drops: those that move away, or `'both'`. Default `'outward'`. */
  dropped: z.enum(['outward', 'both']).optional(),
  /** Weight of `vespo` for positive advantages. Default `{ power: 2, rate: 3 }`. */
  gammaPositive: gammaSchema.optional(),
  /** Weight of `vespo` for other advantages. Default `{ power: 3, rate: 2 }`. */
  gammaNegative: gammaSchema.optional(),
};

const computedCorrections = Object.keys(samplerCorrections) as (keyof typeof samplerCorrections)[];
const corrections = [...computedCorrections, 'column', 'none'] as const;

/** The options of `policyLoss` without `proximal`, which a loop can choose by itself. */
export const policyLossShape = {
  /** Form of the loss. See `policyLoss`. Default `'clip'`. */
  surrogate: z.enum(surrogateKinds).default('clip'),
  /** Takes the importance ratio per token or per sequence. See `importanceRatio`. Default `'token'`. */
  ratio: z.enum(ratioLevels).default('token'),
  ...surrogateShape,
  /** Limits log-ratios to ± this before the exponential. Default 20. */
  logRatioLimit: z.number().positive().default(20),
  /** Further limits log-ratios from above. Off by default. */
  logRatioCap: z.number().positive().optional(),
  /** Added to a sequence's token count before dividing by it (verl has 1e-8). Defaults to a count of at least 1. */
  countEpsilon: z.number().positive().optional(),
  /**
   * Corrects the gap between sampler and trainer. See `samplerWeights`. `'column'` reads `correctionWeights`. Default
   * `'sequence-mask'`.
   */
  correction: z.enum(corrections).default('sequence-mask'),
  /** Upper bound of the correction ratio. Default 3. */
  correctionCap: z.number().positive().default(3),
  /** Lower bound of the correction ratio. Off by default. */
  correctionFloor: z.number().positive().optional(),
  /** Masks sequences with negative advantage whose mean KL to the sampler exceeds this, in nats. Off by default. */
  offPolicyThreshold: z.number().nonnegative().optional(),
  /** `'column'` multiplies by the column `keep`, from `clipCovarianceKeep` or `highEntropyKeep`. Default `'all'`. */
  keep: z.enum(['all', 'column']).default('all'),
  /** Multiplies the KL to the reference policy. `'column'` reads `klCoefficients`. Default 0. */
  klCoefficient: z.union([z.number().nonnegative(), z.literal('column')]).default(0),
  /** Estimator of that KL. See `klEstimate`. Default `'k3'`. */
  klEstimator: z.enum(klEstimators).default('k3'),
  /** Gradient of that KL: its own, or that of `k2`. Default `'own'`. */
  klGradient: z.enum(['own', 'k2']).default('own'),
  /** Limit of a token's KL, in nats. Off by default. */
  klLimit: z.number().positive().optional(),
  /** `'ratio'` weights the KL by the importance ratio (TRL's `use_bias_correction_kl`). Default `'one'`. */
  klWeight: z.enum(['one', 'ratio']).default('one'),
  /** Multiplies the KL to the proximal policy. Default 0. */
  proximalKlCoefficient: z.number().nonnegative().default(0),
  /** Estimator of that KL. See `klEstimate`. Default `'absolute'`. */
  proximalKlEstimator: z.enum(klEstimators).default('absolute'),
  /** `'column'` applies it to the tokens of the column `selected` only. Default `'all'`. */
  proximalKlTokens: z.enum(['all', 'column']).default('all'),
  /**
   * Rewards entropy by this factor. `'column'` reads `entropyCoefficients`. Costs a pass over the vocabulary. Default 0.
   */
  entropyCoefficient: z.union([z.number(), z.literal('column')]).default(0),
};

const clip = 'epsilon cliprange clip_ratio eps_clip eps_clip_low_high';

/** What TRL, verl, OpenRLHF and tinker-cookbook call these options. */
export const lossNames: ForeignNames = {
  surrogate: 'loss_mode loss_fn',
  ratio: 'importance_sampling_level',
  clipLow: `${clip} clip_ratio_low cliprange_low`,
  clipHigh: `${clip} epsilon_high clip_ratio_high cliprange_high`,
  dualClip: 'clip_ratio_c dual_clip',
  ratioCap: 'delta',
  temperaturePositive: 'sapo_temperature_pos',
  temperatureNegative: 'sapo_temperature_neg',
  'gammaPositive.power': 'vespo_k_pos',
  'gammaPositive.rate': 'vespo_lambda_pos',
  'gammaNegative.power': 'vespo_k_neg',
  'gammaNegative.rate': 'vespo_lambda_neg',
  correction:
    'vllm_importance_sampling_correction vllm_importance_sampling_mode enable_vllm_is_correction rollout_is rollout_rs',
  correctionCap:
    'vllm_importance_sampling_cap vllm_importance_sampling_clip_max vllm_is_truncated_threshold rollout_is_threshold ' +
    'rollout_rs_threshold',
  correctionFloor: 'vllm_importance_sampling_clip_min',
  offPolicyThreshold: 'off_policy_mask_threshold',
  klCoefficient: 'beta use_kl_loss kl_loss_coef',
  klEstimator: 'kl_loss_type',
  klWeight: 'use_bias_correction_kl',
  entropyCoefficient: 'entropy_coef entropy_coeff entropy_loss_coef',
};

interface ClipBounds {
  readonly surrogate: string;
  readonly clipLow?: number | undefined;
  readonly clipHigh?: number | undefined;
}

/** Checks the clip bounds. GMPO's lower bound is that of a log-ratio. CISPO clips weights, which keep their gradient at a bound of 0. */
export function checkClipBounds({ value, issues }: z.core.ParsePayload<ClipBounds>): void {
  const complain = (name: 'clipLow' | 'clipHigh', message: string) =>
    issues.push({ code: 'custom', input: value, path: [name], message });
  const { surrogate, clipLow = 0 } = value;
  if (surrogate !== 'gmpo' && clipLow > 1) {
    complain('clipLow', "must be at most 1, where the ratio's lower bound is 0");
  }
  if (surrogate === 'cispo') return;
  for (const [name, sign] of [
    ['clipLow', 'negative'],
    ['clipHigh', 'positive'],
  ] as const) {
    if ((value[name] ?? 1) > 0) continue;
    complain(
      name,
      `must be above 0, or tokens of ${sign} advantage stop learning; leave it out for the default`,
    );
  }
}

/** What is said of a floor above the cap. */
export const correctionOrder = {
  path: ['correctionFloor'],
  message: 'must be at most correctionCap: no ratio lies between them',
};

/** Refuses parameters of other surrogates. */
export function checkSurrogate({
  value,
  issues,
}: z.core.ParsePayload<{ readonly surrogate: SurrogateKind }>): void {
  const { surrogate } = value;
  const known = Object.keys(surrogateDefaults[surrogate]).join(', ') || 'none';
  for (const [name, given] of Object.entries(value)) {
    if (given === undefined || readsBound(surrogate, name)) continue;
    const message = `the surrogate '${surrogate}' does not read it; its own are: ${known}`;
    issues.push({ code: 'custom', input: value, path: [name], message });
  }
}

const schema = z
  .strictObject({
    ...policyLossShape,
    /**
     * Policy that the ratio is taken to. `'current'` is the policy itself and suits the first update after sampling. `'column'`
     * reads `proximalLogprobs`, `'behavior'` reads `behaviorLogprobs`. Default `'current'`.
     */
    proximal: z.enum(['current', 'column', 'behavior']).default('current'),
  })
  .refine(({ proximal, correction }) => proximal !== 'behavior' || !isComputed(correction), {
    path: ['correction'],
    message: "must be 'none' or 'column' when proximal is 'behavior': the ratio already contains the gap",
  })
  .check(checkClipBounds)
  .check(checkSurrogate)
  .refine(({ correctionFloor = 0, correctionCap }) => correctionFloor <= correctionCap, correctionOrder);

const named = withForeignNames(schema, lossNames);

/** Options of `policyLoss`. */
export interface PolicyLossOptions extends z.input<typeof schema> {}

/** {@link PolicyLossOptions} with defaults and the surrogate's parameters filled in. */
export type ResolvedPolicyLoss = Omit<z.output<typeof schema>, keyof SurrogateParameters> & {
  readonly parameters: SurrogateParameters;
};

/** Whether the loss computes the correction itself, from `behaviorLogprobs`. */
export function isComputed(correction: (typeof corrections)[number]): boolean {
  return correction !== 'none' && correction !== 'column';
}

/** Whether a surrogate reads an option. Only the surrogates' own parameters are in question. The loss reads the others. */
export function readsBound(surrogate: SurrogateKind = 'clip', option: string): boolean {
  return !(option in surrogateShape) || option in (surrogateDefaults[surrogate] ?? {});
}

/**
 * Applies the defaults of {@link PolicyLossOptions}.
 *
 * @throws OptionsError naming every problem at once, parameters that the surrogate does not read among them.
 */
export function resolvePolicyLoss(options: PolicyLossOptions): ResolvedPolicyLoss {
  const parsed = parseOptions('policyLoss', named, options, 'PolicyLossOptions');
  const defaults = surrogateDefaults[parsed.surrogate];
  const given = Object.entries(parsed).filter(([name]) => name in surrogateShape);
  const set = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const rest = Object.fromEntries(Object.entries(parsed).filter(([name]) => !(name in surrogateShape)));
  return { ...rest, parameters: { ...defaults, ...set } } as ResolvedPolicyLoss;
}
