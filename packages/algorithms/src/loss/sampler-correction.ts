import { requireArguments, requireChoice, requireFields, type TensorOps } from '@rlp/core';
import { limit, masked, maskedRowMean, maskedRowSum, not } from './masked.ts';

/** What corrections of the gap between sampler and trainer read. Each is `[B, T]`. */
export interface CorrectionInputs<T> {
  /** The trainer's logprobs before the update, `ln π_prox`. */
  readonly proximalLogprobs: T;
  /** The sampler's logprobs, `ln π_b`. */
  readonly behaviorLogprobs: T;
  /** 1 where a token counts. */
  readonly mask: T;
}

/** Options of {@link samplerWeights}. */
export interface SamplerWeightOptions {
  /** The ratio of a token, of a whole sequence (product of its tokens'), or the geometric mean of a sequence's. */
  readonly level: 'token' | 'sequence' | 'geometric';
  /** What becomes of a ratio outside of the bounds: moved to the bound (truncated), or 0 (rejected). */
  readonly outside: 'clamp' | 'zero';
  /** No lower bound by default. */
  readonly low?: number | undefined;
  /** No upper bound by default. */
  readonly high?: number | undefined;
  /** The level's log-ratio is limited to ± this before exp. Default 20, so that float32 cannot overflow. */
  readonly logRatioLimit?: number | undefined;
}

/** The corrections of `policyLoss` by name. */
export const samplerCorrections = {
  'token-truncate': { level: 'token', outside: 'clamp' },
  'token-mask': { level: 'token', outside: 'zero' },
  'sequence-truncate': { level: 'sequence', outside: 'clamp' },
  'sequence-mask': { level: 'sequence', outside: 'zero' },
  'geometric-mask': { level: 'geometric', outside: 'zero' },
} as const satisfies Readonly<Record<string, Pick<SamplerWeightOptions, 'level' | 'outside'>>>;

/**
 * Importance weights for the gap between sampler and trainer.
 *
 * The engine that samples and the engine that learns give different probabilities to the same token.
 *
 *     w_t = exp(δ_t)   or   exp(Σ δ)   or   exp(Σ δ / n)        δ = ln π_prox − ln π_b
 *
 * A constant to the gradient: it multiplies the token's loss. Tokens that do not count have `δ = 0`. Shape `[B, T]` at the
 * token level, else `[B, 1]`.
 *
 * | options | known as |
 * |---|---|
 * | token, clamp, high 2 | truncated importance sampling: TRL `token_truncate`, verl, SkyRL, OpenRLHF `tis` |
 * | token, zero, low 0.5, high 2 | IcePop; TRL `token_mask` |
 * | sequence, clamp | TRL `sequence_truncate`, verl and SkyRL `sequence` |
 * | sequence, zero, high 3 | TRL `sequence_mask`, our default |
 * | geometric, zero | OpenRLHF's sequence filter, SkyRL `geometric` |
 *
 * @see Yao et al. 2025, "Your efficient RL framework secretly brings you off-policy RL training",
 *   https://fengyao.notion.site/off-policy-rl
 */
export function samplerWeights<T>(
  ops: TensorOps<T>,
  inputs: CorrectionInputs<T>,
  options: SamplerWeightOptions,
): T {
  requireArguments('samplerWeights', { ops: 'operations' }, ops);
  requireFields(
    'samplerWeights',
    { proximalLogprobs: 'given', behaviorLogprobs: 'given', mask: 'given' },
    inputs,
  );
  requireFields('samplerWeights', { low: 'number?', high: 'number?', logRatioLimit: 'number?' }, options);
  const { level, outside, low, high, logRatioLimit = 20 } = options;
  requireChoice('samplerWeights', 'level', level, ['token', 'sequence', 'geometric']);
  requireChoice('samplerWeights', 'outside', outside, ['clamp', 'zero']);
  const ratio = ops.exp(limit(ops, logGap(ops, inputs, level), logRatioLimit));
  const [lowest, highest] = [low ?? Number.NEGATIVE_INFINITY, high ?? Number.POSITIVE_INFINITY];
  if (outside === 'clamp') return ops.stopGradient(ops.clip(ratio, lowest, highest));
  return ops.stopGradient(ops.where(within(ops, ratio, { low, high }), ratio, ops.constant(0)));
}

function logGap<T>(
  ops: TensorOps<T>,
  { proximalLogprobs, behaviorLogprobs, mask }: CorrectionInputs<T>,
  level: SamplerWeightOptions['level'],
): T {
  const gap = ops.sub(proximalLogprobs, behaviorLogprobs);
  switch (level) {
    case 'token':
      return masked(ops, gap, mask);
    case 'sequence':
      return maskedRowSum(ops, gap, mask);
    case 'geometric':
      return maskedRowMean(ops, gap, mask);
  }
}

/** 1 where `low ≤ x ≤ high`. */
function within<T>(
  ops: TensorOps<T>,
  x: T,
  { low, high }: { readonly low?: number | undefined; readonly high?: number | undefined },
): T {
  const notBelow = low === undefined ? undefined : ops.greaterEqual(x, ops.constant(low));
  const notAbove = high === undefined ? undefined : ops.greaterEqual(ops.constant(high), x);
  if (notBelow !== undefined && notAbove !== undefined) return ops.mul(notBelow, notAbove);
  return notBelow ?? notAbove ?? ops.greaterEqual(x, x);
}

/** One condition of {@link acceptanceMask}. */
export interface AcceptanceCriterion {
  /** `'k1'`: −δ; `'k2'`: δ²/2; `'k3'`: e^δ − 1 − δ; `'tv'`: |e^δ − 1|; with δ = ln π_prox − ln π_b, limited to ± 20. */
  readonly statistic: 'k1' | 'k2' | 'k3' | 'tv';
  /**
   * `'token'` judges each token. The others judge a whole sequence, by the sum or mean over its tokens, or by whether
   * `'every-token'` passes.
   */
  readonly over: 'token' | 'sequence-sum' | 'sequence-mean' | 'every-token';
  /** Smallest accepted value. Default none. */
  readonly low?: number | undefined;
  /** Largest accepted value. Bounds on ratios are bounds on k1: `k1 = −ln ratio`. Default none. */
  readonly high?: number | undefined;
}

/**
 * Rejection by the gap between sampler and trainer: 1 for tokens that pass every criterion, else 0. A constant to the
 * gradient. Shape `[B, T]`, and 0 where the mask is.
 *
 * Multiply losses by it, or (verl) compute the aggregation over the accepted tokens only.
 */
export function acceptanceMask<T>(
  ops: TensorOps<T>,
  inputs: CorrectionInputs<T>,
  criteria: readonly AcceptanceCriterion[],
): T {
  requireArguments('acceptanceMask', { ops: 'operations', criteria: 'objects' }, ops, criteria);
  requireFields(
    'acceptanceMask',
    { proximalLogprobs: 'given', behaviorLogprobs: 'given', mask: 'given' },
    inputs,
  );
  for (const [index, { statistic, over, low, high }] of criteria.entries()) {
    const owner = `acceptanceMask: criteria[${index}]`;
    requireFields(owner, { low: 'number?', high: 'number?' }, { low, high });
    requireChoice(owner, 'statistic', statistic, ['k1', 'k2', 'k3', 'tv']);
    requireChoice(owner, 'over', over, ['token', 'sequence-sum', 'sequence-mean', 'every-token']);
  }
  const { proximalLogprobs, behaviorLogprobs, mask } = inputs;
  const gap = masked(ops, ops.clip(ops.sub(proximalLogprobs, behaviorLogprobs), -20, 20), mask);
  return ops.stopGradient(
    criteria.reduce((kept, criterion) => ops.mul(kept, passes(ops, { gap, mask }, criterion)), mask),
  );
}

function passes<T>(
  ops: TensorOps<T>,
  { gap, mask }: { readonly gap: T; readonly mask: T },
  { statistic, over, low, high }: AcceptanceCriterion,
): T {
  const values = gapStatistic(ops, gap, statistic);
  switch (over) {
    case 'token':
      return within(ops, values, { low, high });
    case 'sequence-sum':
      return within(ops, maskedRowSum(ops, values, mask), { low, high });
    case 'sequence-mean':
      return within(ops, maskedRowMean(ops, values, mask), { low, high });
    case 'every-token': {
      const failed = maskedRowSum(ops, not(ops, within(ops, values, { low, high })), mask);
      return not(ops, ops.greater(failed, ops.constant(0)));
    }
  }
}

function gapStatistic<T>(ops: TensorOps<T>, gap: T, statistic: AcceptanceCriterion['statistic']): T {
  switch (statistic) {
    case 'k1':
      return ops.neg(gap);
    case 'k2':
      return ops.mul(ops.constant(0.5), ops.square(gap));
    case 'k3':
      return ops.sub(ops.sub(ops.exp(gap), ops.constant(1)), gap);
    case 'tv':
      return ops.abs(ops.sub(ops.exp(gap), ops.constant(1)));
  }
}

/** What {@link offPolicySequenceMask} reads. Each is `[B, T]`. */
export interface OffPolicyInputs<T> {
  /** `ln π_θ`, taken as a constant. */
  readonly logprobs: T;
  /** Of the policy that sampled, or that the update began from. */
  readonly behaviorLogprobs: T;
  readonly advantages: T;
  readonly mask: T;
}

/**
 * Drops what pushes a policy away from sequences that it has already left.
 *
 * 0 for tokens with negative advantage in sequences whose mean `ln π_b − ln π_θ` exceeds `threshold`, else 1. A constant to
 * the gradient. Shape `[B, T]`.
 *
 * @param threshold - In nats per token.
 * @see DeepSeek-AI 2025 (DeepSeek-V3.2), off-policy sequence masking, https://arxiv.org/abs/2512.02556
 */
export function offPolicySequenceMask<T>(
  ops: TensorOps<T>,
  inputs: OffPolicyInputs<T>,
  options: { readonly threshold: number },
): T {
  requireArguments('offPolicySequenceMask', { ops: 'operations' }, ops);
  requireFields(
    'offPolicySequenceMask',
    { logprobs: 'given', behaviorLogprobs: 'given', advantages: 'given', mask: 'given' },
    inputs,
  );
  const { logprobs, behaviorLogprobs, advantages, mask } = inputs;
  requireFields('offPolicySequenceMask', { threshold: 'number' }, options);
  const { threshold } = options;
  const left = maskedRowMean(ops, ops.sub(behaviorLogprobs, ops.stopGradient(logprobs)), mask);
  const isFar = ops.greater(left, ops.constant(threshold));
  const isBad = ops.greater(ops.constant(0), advantages);
  return ops.stopGradient(not(ops, ops.mul(isFar, isBad)));
}
