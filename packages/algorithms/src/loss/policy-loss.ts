import type { Loss, LossInputs, LossOutput, TensorOps } from '@rlp/core';
import { importanceRatio } from './importance-ratio.ts';
import { type KlInputs, type KlOptions, klEstimate } from './kl-estimate.ts';
import { type CountFloor, limit } from './masked.ts';
import {
  isComputed,
  type PolicyLossOptions,
  type ResolvedPolicyLoss,
  resolvePolicyLoss,
} from './policy-loss-options.ts';
import { offPolicySequenceMask, samplerCorrections, samplerWeights } from './sampler-correction.ts';
import { boundMetrics, surrogates } from './surrogates.ts';

/**
 * Columns that the training loop can give to a loss: the advantages and the logprobs under three policies, and factors that its
 * options ask for.
 */
export type PolicyColumn =
  | 'advantages'
  | 'behaviorLogprobs'
  | 'proximalLogprobs'
  | 'referenceLogprobs'
  | 'correctionWeights'
  | 'keep'
  | 'selected'
  | 'klCoefficients'
  | 'entropyCoefficients';

/**
 * The policy-gradient loss of GRPO and its kin, per token.
 *
 *     L = w · m · (surrogate(ρ, A) + c_prox · KL(π_θ ‖ π_prox)) + c_ref · KL(π_θ ‖ π_ref) − c_H · H
 *
 * with the ratio `ρ = π_θ / π_prox`, the correction `w` of the gap between trainer and sampler and the masks `m`. Options:
 *
 * - `surrogate` (`'clip'`), with its own parameters:
 *
 *   | surrogate | parameters (defaults) | see |
 *   |---|---|---|
 *   | `clip` | `clipLow` 0.2, `clipHigh` 0.28, `dualClip` off, `ratioCap` off | `clippedSurrogate`: PPO, GRPO, DAPO; GSPO over sequences |
 *   | `cispo` | `clipLow` 1, `clipHigh` 4: weights up to 5 | `clippedWeightSurrogate` |
 *   | `sapo` | `temperaturePositive` 1, `temperatureNegative` 1.05 | `softGateSurrogate` |
 *   | `gmpo` | `clipLow` 0.4, `clipHigh` 0.4, in log space | `geometricMeanRatio` |
 *   | `dppo` | `divergence` `'total-variation'`, `divergenceLow` and `divergenceHigh` 0.15, `dropped` `'outward'` | `divergenceMask` |
 *   | `vespo` | `gammaPositive` `{ power: 2, rate: 3 }`, `gammaNegative` `{ power: 3, rate: 2 }` | `gammaWeights` |
 *   | `window` | `clipLow` 0.2, `clipHigh` 0.28 | `windowSurrogate` |
 *   | `importance-sampling`, `policy-gradient` | none | `importanceSampling`, `policyGradient` |
 *
 * Reads the column `advantages` and those that the options name. Metrics (vocabulary: `docs/metrics.md`): `ratio/mean`,
 * `kl/update`, `clip/low`, `clip/high`, `clip/dual`, and where its inputs are there `gap/sampler`, `gap/absolute`,
 * `kl/reference`, `entropy/mean`.
 *
 * @throws OptionsError for options outside their ranges or that the surrogate does not read.
 */
export function policyLoss(options: PolicyLossOptions = {}): Loss<PolicyColumn> {
  const resolved = resolvePolicyLoss(options);
  return {
    key: `policy-loss ${JSON.stringify(resolved)}`,
    columns: columnsOf(resolved),
    entropies: resolved.entropyCoefficient === 0 ? 'none' : 'needed',
    compute: (ops, inputs) => computePolicyLoss(ops, inputs, resolved),
  };
}

function columnsOf(options: ResolvedPolicyLoss): PolicyColumn[] {
  const { proximal, correction, keep } = options;
  const columns: PolicyColumn[] = ['advantages'];
  if (proximal === 'column') columns.push('proximalLogprobs');
  if (proximal === 'behavior' || isComputed(correction) || options.offPolicyThreshold !== undefined) {
    columns.push('behaviorLogprobs');
  }
  if (correction === 'column') columns.push('correctionWeights');
  if (keep === 'column') columns.push('keep');
  if (options.klCoefficient !== 0) columns.push('referenceLogprobs');
  if (options.klCoefficient === 'column') columns.push('klCoefficients');
  if (options.entropyCoefficient === 'column') columns.push('entropyCoefficients');
  if (options.proximalKlCoefficient > 0 && options.proximalKlTokens === 'column') columns.push('selected');
  return columns;
}

/** The loss's inputs with what everything else is computed from. */
interface Context<T> extends LossInputs<T> {
  readonly advantages: T;
  readonly proximalLogprobs: T;
  readonly ratio: T;
}

function computePolicyLoss<T>(
  ops: TensorOps<T>,
  inputs: LossInputs<T>,
  options: ResolvedPolicyLoss,
): LossOutput<T> {
  const proximalLogprobs = proximalOf(ops, inputs, options);
  const countFloor: CountFloor =
    options.countEpsilon === undefined ? 'at-least-one' : { plus: options.countEpsilon };
  const ratio = importanceRatio(
    ops,
    { ...inputs, proximalLogprobs },
    { ...options, countFloor, level: options.ratio },
  );
  const context = { ...inputs, advantages: inputs.columns.advantages!, proximalLogprobs, ratio };
  const { surrogate, parameters } = options;
  const anchored = withProximalKl(
    ops,
    surrogates[surrogate](ops, context, { ...parameters, countFloor, logRatioLimit: options.logRatioLimit }),
    context,
    options,
  );
  const losses = weighed(ops, anchored, context, options);
  const penalties = penaltiesOf(ops, context, options);
  return {
    tokenLosses: penalties.terms.reduce((sum, term) => ops.add(sum, term), losses),
    metrics: {
      'ratio/mean': ops.stopGradient(ratio),
      'kl/update': limit(
        ops,
        ops.sub(proximalLogprobs, ops.stopGradient(inputs.logprobs)),
        options.logRatioLimit,
      ),
      ...boundMetrics(ops, surrogate, context, parameters),
      ...gapMetrics(ops, context, options),
      ...penalties.metrics,
    },
  };
}

function proximalOf<T>(
  ops: TensorOps<T>,
  { logprobs, columns }: LossInputs<T>,
  { proximal }: ResolvedPolicyLoss,
): T {
  switch (proximal) {
    case 'current':
      return ops.stopGradient(logprobs);
    case 'column':
      return columns.proximalLogprobs!;
    case 'behavior':
      return columns.behaviorLogprobs!;
  }
}

/** The surrogate with what holds the policy to the proximal one. */
function withProximalKl<T>(
  ops: TensorOps<T>,
  losses: T,
  { logprobs, proximalLogprobs, columns }: Context<T>,
  options: ResolvedPolicyLoss,
): T {
  if (options.proximalKlCoefficient === 0) return losses;
  const inputs = { logprobs, referenceLogprobs: proximalLogprobs };
  const kl = boundedKl(ops, inputs, options, { estimator: options.proximalKlEstimator });
  const counted = options.proximalKlTokens === 'column' ? ops.mul(kl, columns.selected!) : kl;
  return ops.add(losses, ops.mul(ops.constant(options.proximalKlCoefficient), counted));
}

/** {@link klEstimate}, in which the limit of log ratios bounds `k3` only: the others cannot overflow. */
function boundedKl<T>(
  ops: TensorOps<T>,
  inputs: KlInputs<T>,
  { logRatioLimit }: ResolvedPolicyLoss,
  kl: Omit<KlOptions, 'logRatioLimit'>,
): T {
  const deltaLimit = kl.estimator === 'k3' ? logRatioLimit : undefined;
  return klEstimate(ops, inputs, { ...kl, logRatioLimit: deltaLimit });
}

/** Token losses times everything that weighs or drops them. */
function weighed<T>(ops: TensorOps<T>, losses: T, context: Context<T>, options: ResolvedPolicyLoss): T {
  const { columns } = context;
  const factors: T[] = [];
  if (options.offPolicyThreshold !== undefined) {
    const behaviorLogprobs = columns.behaviorLogprobs!;
    const threshold = options.offPolicyThreshold;
    factors.push(offPolicySequenceMask(ops, { ...context, behaviorLogprobs }, { threshold }));
  }
  if (options.keep === 'column') factors.push(columns.keep!);
  if (options.correction === 'column') factors.push(columns.correctionWeights!);
  else if (options.correction !== 'none') {
    const inputs = { ...context, behaviorLogprobs: columns.behaviorLogprobs! };
    const bounds = { low: options.correctionFloor, high: options.correctionCap };
    factors.push(samplerWeights(ops, inputs, { ...samplerCorrections[options.correction], ...bounds }));
  }
  return factors.reduce((product, factor) => ops.mul(product, factor), losses);
}

/** What is added to the surrogate. */
function penaltiesOf<T>(
  ops: TensorOps<T>,
  { logprobs, entropies, ratio, columns }: Context<T>,
  options: ResolvedPolicyLoss,
): { terms: T[]; metrics: Record<string, T> } {
  const terms: T[] = [];
  const metrics: Record<string, T> = {};
  const { klCoefficient, entropyCoefficient } = options;
  if (klCoefficient !== 0) {
    const inputs = { logprobs, referenceLogprobs: columns.referenceLogprobs! };
    const { klEstimator: estimator, klLimit, klGradient: gradient } = options;
    const kl = boundedKl(ops, inputs, options, { estimator, gradient, limit: klLimit });
    const counted = options.klWeight === 'ratio' ? ops.mul(kl, ratio) : kl;
    const coefficient = klCoefficient === 'column' ? columns.klCoefficients! : ops.constant(klCoefficient);
    terms.push(ops.mul(coefficient, counted));
    metrics['kl/reference'] = ops.stopGradient(kl);
  }
  if (entropyCoefficient !== 0) {
    const coefficient =
      entropyCoefficient === 'column' ? columns.entropyCoefficients! : ops.constant(entropyCoefficient);
    terms.push(ops.neg(ops.mul(coefficient, entropies!)));
    metrics['entropy/mean'] = ops.stopGradient(entropies!);
  }
  return { terms, metrics };
}

function gapMetrics<T>(
  ops: TensorOps<T>,
  { proximalLogprobs, columns }: Context<T>,
  { correction, proximal }: ResolvedPolicyLoss,
): Record<string, T> {
  if (!isComputed(correction) || proximal === 'behavior') return {};
  const gap = ops.sub(ops.stopGradient(proximalLogprobs), columns.behaviorLogprobs!);
  return { 'gap/sampler': gap, 'gap/absolute': ops.abs(gap) };
}
