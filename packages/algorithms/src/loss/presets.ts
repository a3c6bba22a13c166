import type { AggregationOptions } from './aggregation.ts';
import type { ClipCovarianceOptions, KlCovarianceOptions } from './covariance.ts';
import type { KlOptions } from './kl-estimate.ts';
import type { PolicyLossOptions } from './policy-loss-options.ts';
import type { ValueLossOptions } from './value-loss.ts';

/**
 * How one project reads the losses. What it does not have is absent.
 *
 * These are conventions only. Bounds and coefficients are yours.
 */
export interface LossPreset {
  /** PPO's and GRPO's clipped surrogate, for `policyLoss`. */
  readonly clip: PolicyLossOptions;
  /** GSPO, for `policyLoss`. */
  readonly gspo?: PolicyLossOptions;
  /** k3 of the KL to a reference policy, for `klEstimate`. */
  readonly kl?: KlOptions;
  /** The mean over sequences of means over tokens, for `aggregationWeights`. */
  readonly sequenceMean?: AggregationOptions;
  /** The critic's loss, for `valueLoss`. */
  readonly value?: ValueLossOptions;
  /** KL-Cov, for `klCovarianceSelection`. */
  readonly klCovariance?: KlCovarianceOptions;
  /** Clip-Cov, for `clipCovarianceKeep`. */
  readonly clipCovariance?: ClipCovarianceOptions;
}

/** No limit that a float could reach before it overflows. */
const logRatioLimit = 1e6;

/**
 * Option values that give each project's numbers. `pnpm conformance` computes its files with them.
 *
 * `rlp` is our default:
 *
 * - It limits log-ratios to ± 20, so that float32 cannot overflow.
 * - GSPO's gradient flows through the sequence's mean, as in eq. 7 of the paper.
 * - k3 keeps its unbiased value.
 * - Sequences without trained tokens are skipped.
 */
export const lossPresets = {
  rlp: {
    clip: {},
    gspo: { ratio: 'sequence' },
    kl: { estimator: 'k3' },
    sequenceMean: { mode: 'sequence-mean-token-mean' },
  },
  verl: {
    clip: { logRatioLimit: 20 },
    gspo: { ratio: 'sequence-token', logRatioLimit, logRatioCap: 10 },
    kl: { estimator: 'k3', limit: 10 },
    sequenceMean: { mode: 'sequence-mean-token-mean', countEpsilon: 1e-8 },
    klCovariance: { ties: 'torch' },
    clipCovariance: { countEpsilon: 1e-8 },
  },
  trl: {
    clip: { logRatioLimit },
    gspo: { ratio: 'sequence', logRatioLimit },
    kl: { estimator: 'k3', logRatioLimit },
    sequenceMean: { mode: 'sequence-mean-token-mean', emptySequences: 'count' },
  },
  skyrl: {
    clip: { logRatioLimit: 20 },
    gspo: { ratio: 'sequence-token', logRatioLimit, logRatioCap: 10 },
    kl: { estimator: 'k3', limit: 10 },
    sequenceMean: { mode: 'sequence-mean-token-mean', emptySequences: 'count' },
    value: { clipForm: 'difference' },
    klCovariance: { ties: 'torch' },
  },
  slime: {
    clip: { logRatioLimit },
    gspo: { ratio: 'sequence', logRatioLimit },
    kl: { estimator: 'k3', limit: 10, logRatioLimit },
    value: { clipForm: 'difference', scale: 1 },
  },
  openrlhf: {
    clip: { logRatioLimit: 20 },
    gspo: { ratio: 'sequence', logRatioLimit },
    kl: { estimator: 'k3', limit: 10, logRatioLimit },
    sequenceMean: { mode: 'sequence-mean-token-mean', countEpsilon: 1e-8 },
    value: { clipForm: 'difference' },
  },
  tinker: { clip: { logRatioLimit } },
} as const satisfies Readonly<Record<string, LossPreset>>;
