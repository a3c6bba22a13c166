import { type Loss, type LossInputs, type LossOutput, parseOptions, type TensorOps } from '@rlp/core';
import { z } from 'zod';
import { clippedSurrogate, limit } from './clipped-surrogate.ts';
import { truncatedImportanceWeights } from './importance-weights.ts';
import { klEstimate } from './kl-estimate.ts';

const proximalSchema = z.enum(['current', 'column', 'behavior']);

/** The options of {@link policyLoss} without `proximal`, which a loop can choose by itself. */
export const policyLossShape = {
  clipLow: z.number().min(0).max(1).default(0.2),
  clipHigh: z.number().min(0).default(0.28),
  dualClip: z.number().gt(1).optional(),
  ratioCap: z.number().gt(1).optional(),
  logRatioLimit: z.number().positive().default(20),
  correction: z.enum(['truncated', 'column', 'none']).default('truncated'),
  correctionCap: z.number().positive().default(2),
  klCoefficient: z.number().nonnegative().default(0),
  klEstimator: z.enum(['k1', 'k2', 'k3', 'absolute']).default('k3'),
  klLimit: z.number().positive().optional(),
  entropyCoefficient: z.number().default(0),
};

const schema = z
  .strictObject({ ...policyLossShape, proximal: proximalSchema.default('current') })
  .refine(({ proximal, correction }) => proximal !== 'behavior' || correction !== 'truncated', {
    path: ['correction'],
    message: "must be 'none' or 'column' when proximal is 'behavior': the ratio already contains the gap",
  });

/**
 * Options of {@link policyLoss}.
 *
 * - `clipLow` (0.2), `clipHigh` (0.28): the ratio stays in `[1 − clipLow, 1 + clipHigh]`; `dualClip` and `ratioCap` (off):
 *   see {@link clippedSurrogate}; `logRatioLimit` (20).
 * - `proximal` (`'current'`): the policy that the ratio is taken to. `'current'`: the policy itself before this update, no
 *   column needed; right for the first update after sampling, where the ratio is 1 and its gradient is the policy
 *   gradient. `'column'`: the column `proximalLogprobs`, which the trainer computed before its first update; needed from
 *   the second update on. `'behavior'`: the column `behaviorLogprobs`, as PPO had it before samplers and trainers were
 *   different programs.
 * - `correction` (`'truncated'`): truncated importance sampling of the gap between trainer and sampler, from the column
 *   `behaviorLogprobs`, capped at `correctionCap` (2); `'column'` multiplies by the column `correctionWeights` instead.
 * - `klCoefficient` (0): multiplies `klEstimator` (`'k3'`) of the KL to the column `referenceLogprobs`; `klLimit` (off).
 * - `entropyCoefficient` (0): subtracts this much entropy. Costs a pass over the vocabulary when not 0.
 */
export type PolicyLossOptions = z.input<typeof schema>;

type Resolved = z.output<typeof schema>;

/**
 * The policy-gradient loss of GRPO and its kin, per token.
 *
 *     L = w · surrogate(ρ, A) + klCoefficient · k3 − entropyCoefficient · H
 *
 * with the ratio `ρ = π_θ / π_prox` and the correction `w = min(π_prox / π_b, cap)`. It reads the column `advantages` and
 * those that the options name. Metrics (vocabulary: `docs/metrics.md`): `ratio/mean`, `clip/low`, `clip/high`, `clip/dual`, `kl/update`,
 * and where its inputs are there `gap/sampler`, `gap/absolute`, `kl/reference`, `entropy/mean`.
 *
 * @throws OptionsError for options outside their ranges.
 */
export function policyLoss(options: PolicyLossOptions = {}): Loss {
  const resolved = parseOptions('policyLoss', schema, options);
  return {
    key: `policy-loss ${JSON.stringify(resolved)}`,
    columns: columnsOf(resolved),
    entropies: resolved.entropyCoefficient === 0 ? 'none' : 'needed',
    compute: (ops, inputs) => computePolicyLoss(ops, inputs, resolved),
  };
}

function columnsOf({ proximal, correction, klCoefficient }: Resolved): string[] {
  const columns = ['advantages'];
  if (proximal === 'column') columns.push('proximalLogprobs');
  if (proximal === 'behavior' || correction === 'truncated') columns.push('behaviorLogprobs');
  if (correction === 'column') columns.push('correctionWeights');
  if (klCoefficient > 0) columns.push('referenceLogprobs');
  return columns;
}

function computePolicyLoss<T>(ops: TensorOps<T>, inputs: LossInputs<T>, options: Resolved): LossOutput<T> {
  const { logprobs, columns } = inputs;
  const advantages = columns.advantages!;
  const proximalLogprobs = proximalOf(ops, inputs, options);
  const { losses, ratio } = clippedSurrogate(ops, { logprobs, proximalLogprobs, advantages }, options);
  const metrics: Record<string, T> = updateMetrics(ops, { ...inputs, proximalLogprobs, ratio }, options);
  let tokenLosses = losses;
  if (options.correction !== 'none') {
    tokenLosses = ops.mul(tokenLosses, correctionOf(ops, proximalLogprobs, inputs, options));
  }
  if (options.klCoefficient > 0) {
    const kl = klEstimate(
      ops,
      { logprobs, referenceLogprobs: columns.referenceLogprobs! },
      { estimator: options.klEstimator, logRatioLimit: options.logRatioLimit, limit: options.klLimit },
    );
    tokenLosses = ops.add(tokenLosses, ops.mul(ops.constant(options.klCoefficient), kl));
    metrics['kl/reference'] = ops.stopGradient(kl);
  }
  if (options.entropyCoefficient !== 0) {
    const entropies = inputs.entropies!;
    tokenLosses = ops.sub(tokenLosses, ops.mul(ops.constant(options.entropyCoefficient), entropies));
    metrics['entropy/mean'] = ops.stopGradient(entropies);
  }
  return { tokenLosses, metrics };
}

function proximalOf<T>(ops: TensorOps<T>, { logprobs, columns }: LossInputs<T>, { proximal }: Resolved): T {
  switch (proximal) {
    case 'current':
      return ops.stopGradient(logprobs);
    case 'column':
      return columns.proximalLogprobs!;
    case 'behavior':
      return columns.behaviorLogprobs!;
  }
}

function correctionOf<T>(
  ops: TensorOps<T>,
  proximalLogprobs: T,
  { columns }: LossInputs<T>,
  { correction, correctionCap }: Resolved,
): T {
  if (correction === 'column') return columns.correctionWeights!;
  const behaviorLogprobs = columns.behaviorLogprobs!;
  return truncatedImportanceWeights(ops, { proximalLogprobs, behaviorLogprobs }, { cap: correctionCap });
}

function updateMetrics<T>(
  ops: TensorOps<T>,
  inputs: LossInputs<T> & { readonly proximalLogprobs: T; readonly ratio: T },
  { clipLow, clipHigh, dualClip, logRatioLimit, proximal, correction }: Resolved,
): Record<string, T> {
  const ratio = ops.stopGradient(inputs.ratio);
  const logprobs = ops.stopGradient(inputs.logprobs);
  const { advantages, behaviorLogprobs } = inputs.columns;
  const below = ops.greater(ops.constant(1 - clipLow), ratio);
  const above = ops.greater(ratio, ops.constant(1 + clipHigh));
  const metrics: Record<string, T> = {
    'ratio/mean': ratio,
    'clip/low': ops.mul(below, ops.greater(ops.constant(0), advantages!)),
    'clip/high': ops.mul(above, ops.greater(advantages!, ops.constant(0))),
    'kl/update': limit(ops, ops.sub(inputs.proximalLogprobs, logprobs), logRatioLimit),
  };
  if (dualClip !== undefined) {
    const beyond = ops.greater(ratio, ops.constant(dualClip));
    metrics['clip/dual'] = ops.mul(beyond, ops.greater(ops.constant(0), advantages!));
  }
  if (correction === 'truncated' && proximal !== 'behavior') {
    const gap = ops.sub(ops.stopGradient(inputs.proximalLogprobs), behaviorLogprobs!);
    metrics['gap/sampler'] = gap;
    metrics['gap/absolute'] = ops.abs(gap);
  }
  return metrics;
}
