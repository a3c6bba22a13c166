import { requireArguments, requireChoice, requireFields, type TensorOps } from '@rlp/core';
import type { SurrogateInputs } from './clipped-surrogate.ts';
import type { RatioInputs } from './importance-ratio.ts';
import { type CountFloor, limit, maskedRowMean, not, requireCountFloor, sign } from './masked.ts';

/**
 * Importance sampling without any bound, `L = −ρ · A`. Tinker's `importance_sampling`.
 */
export function importanceSampling<T>(ops: TensorOps<T>, inputs: SurrogateInputs<T>): T {
  requireArguments('importanceSampling', { ops: 'operations' }, ops);
  requireFields('importanceSampling', { ratio: 'given', advantages: 'given' }, inputs);
  const { ratio, advantages } = inputs;
  return ops.neg(ops.mul(ratio, advantages));
}

/** Temperatures of {@link softGateSurrogate}. */
export interface SoftGateOptions {
  /** τ where `A > 0`. */
  readonly temperaturePositive: number;
  /** τ where `A ≤ 0`. A larger one forgets faster. */
  readonly temperatureNegative: number;
}

/**
 * SAPO has a smooth gate in place of the clip.
 *
 *     L = −(4/τ) · σ(τ·(ρ − 1)) · A
 *
 * Its slope by ρ is `−A` at `ρ = 1` and falls off on both sides.
 *
 * @see Gao et al. 2025 (SAPO), https://arxiv.org/abs/2511.20347
 */
export function softGateSurrogate<T>(
  ops: TensorOps<T>,
  inputs: SurrogateInputs<T>,
  options: SoftGateOptions,
): T {
  requireArguments('softGateSurrogate', { ops: 'operations' }, ops);
  requireFields('softGateSurrogate', { ratio: 'given', advantages: 'given' }, inputs);
  const { ratio, advantages } = inputs;
  requireFields(
    'softGateSurrogate',
    { temperaturePositive: 'number', temperatureNegative: 'number' },
    options,
  );
  const { temperaturePositive, temperatureNegative } = options;
  const moved = ops.sub(ratio, ops.constant(1));
  const gate = (temperature: number) =>
    ops.mul(ops.sigmoid(ops.mul(ops.constant(temperature), moved)), ops.constant(4 / temperature));
  const isGood = ops.greater(advantages, ops.constant(0));
  const gates = ops.where(isGood, gate(temperaturePositive), gate(temperatureNegative));
  return ops.neg(ops.mul(gates, advantages));
}

/** What {@link geometricMeanRatio} reads. Each is `[B, T]`. */
export interface GeometricInputs<T> extends RatioInputs<T> {
  /** Only their signs matter. Each token is clipped on its pessimistic side. */
  readonly advantages: T;
}

/** Options of {@link geometricMeanRatio}. */
export interface GeometricOptions {
  /** The log-ratio's lower bound is `−clipLow`. */
  readonly clipLow: number;
  /** The log-ratio's upper bound is `clipHigh`. */
  readonly clipHigh: number;
  /** Divisor of the mean. Default `'at-least-one'` (TRL; verl adds 1e-8). */
  readonly countFloor?: CountFloor | undefined;
  /** The mean log-ratio is limited to ± this before exp. Default 20, so that float32 cannot overflow. */
  readonly logRatioLimit?: number | undefined;
}

/**
 * GMPO's ratio of a sequence: the geometric mean of its token ratios, each clipped in log space on the pessimistic side.
 *
 *     ρ = exp(Σ s·min(s·δ, s·clip(δ, −clipLow, clipHigh)) / n)        s = sign A
 *
 * Times `−A` it is the loss of the sequence. A token with advantage 0 counts as unmoved. Shape `[B, 1]`.
 *
 * @see Zhao et al. 2025 (GMPO), eq. 4, https://arxiv.org/abs/2507.20673
 */
export function geometricMeanRatio<T>(
  ops: TensorOps<T>,
  inputs: GeometricInputs<T>,
  options: GeometricOptions,
): T {
  requireArguments('geometricMeanRatio', { ops: 'operations' }, ops);
  requireFields(
    'geometricMeanRatio',
    { advantages: 'given', logprobs: 'given', proximalLogprobs: 'given', mask: 'given' },
    inputs,
  );
  const { logprobs, proximalLogprobs, advantages, mask } = inputs;
  requireFields(
    'geometricMeanRatio',
    { clipLow: 'number', clipHigh: 'number', logRatioLimit: 'number?' },
    options,
  );
  const { clipLow, clipHigh, countFloor, logRatioLimit = 20 } = options;
  requireCountFloor('geometricMeanRatio', countFloor);
  const difference = ops.sub(logprobs, proximalLogprobs);
  const clipped = ops.clip(difference, -clipLow, clipHigh);
  const direction = sign(ops, advantages);
  const pessimistic = ops.mul(
    direction,
    ops.minimum(ops.mul(direction, difference), ops.mul(direction, clipped)),
  );
  return ops.exp(limit(ops, maskedRowMean(ops, pessimistic, mask, countFloor), logRatioLimit));
}

/** What {@link divergenceMask} reads. Each is `[B, T]`. */
export interface DivergenceInputs<T> {
  readonly logprobs: T;
  /** Of the policy that the trust region is around. */
  readonly proximalLogprobs: T;
  readonly advantages: T;
}

/** Options of {@link divergenceMask}. */
export interface DivergenceOptions {
  /**
   * Distance of the two policies on "this token or another": `'total-variation'` `|p − q|`, or `'kl'`
   * `q·ln(q/p) + (1−q)·ln((1−q)/(1−p))`.
   */
  readonly divergence: 'total-variation' | 'kl';
  /** Largest distance where the probability fell. */
  readonly divergenceLow: number;
  /** Largest distance where it rose. */
  readonly divergenceHigh: number;
  /**
   * `'outward'` drops only tokens whose advantage pushes them further out (DPPO). `'both'` drops all beyond the bounds
   * (IcePop in probabilities). Default `'outward'`.
   */
  readonly dropped?: 'outward' | 'both' | undefined;
}

/**
 * DPPO's trust region: 1 for tokens whose probability has moved little enough from the proximal policy's, 0 for the others.
 * A constant to the gradient.
 *
 * @see Qi et al. 2026 (DPPO), eq. 13 and 14, https://arxiv.org/abs/2602.04879
 */
export function divergenceMask<T>(
  ops: TensorOps<T>,
  inputs: DivergenceInputs<T>,
  options: DivergenceOptions,
): T {
  requireArguments('divergenceMask', { ops: 'operations' }, ops);
  requireFields(
    'divergenceMask',
    { logprobs: 'given', proximalLogprobs: 'given', advantages: 'given' },
    inputs,
  );
  const { logprobs, proximalLogprobs, advantages } = inputs;
  requireFields('divergenceMask', { divergenceLow: 'number', divergenceHigh: 'number' }, options);
  const { divergence, divergenceLow, divergenceHigh, dropped = 'outward' } = options;
  requireChoice('divergenceMask', 'divergence', divergence, ['total-variation', 'kl']);
  requireChoice('divergenceMask', 'dropped', dropped, ['outward', 'both']);
  const zero = ops.constant(0);
  const current = ops.stopGradient(logprobs);
  const moved = ops.sub(ops.exp(current), ops.exp(proximalLogprobs));
  const distance =
    divergence === 'total-variation' ? ops.abs(moved) : binaryKl(ops, current, proximalLogprobs);
  const beyond = (bound: number) => ops.greater(distance, ops.constant(bound));
  const rose = ops.mul(ops.greater(moved, zero), beyond(divergenceHigh));
  const fell = ops.mul(ops.greater(zero, moved), beyond(divergenceLow));
  const isOut =
    dropped === 'both'
      ? ops.add(rose, fell)
      : ops.add(ops.mul(rose, ops.greater(advantages, zero)), ops.mul(fell, ops.greater(zero, advantages)));
  return not(ops, isOut);
}

/** `q·(ln q − ln p) + (1 − q)·ln((1 − q + ε) / (1 − p + ε))` with `ε = 1e-8`, as SkyRL has it. */
function binaryKl<T>(ops: TensorOps<T>, logP: T, logQ: T): T {
  const rest = (logprob: T) => ops.sub(ops.constant(1), ops.exp(logprob));
  const safe = (x: T) => ops.add(x, ops.constant(1e-8));
  const restQ = rest(logQ);
  const logRest = ops.log(ops.div(safe(restQ), safe(rest(logP))));
  return ops.add(ops.mul(ops.exp(logQ), ops.sub(logQ, logP)), ops.mul(restQ, logRest));
}
