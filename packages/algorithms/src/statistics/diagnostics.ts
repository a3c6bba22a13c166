import { requireChoice, requireFields } from '@rlp/core';
import { hasRewardVariance, requireRewards } from '../advantage/group-relative.ts';
import { maskedMean, maskedRowMeans, maskedVariance, moments } from './masked.ts';
import { namedInputs } from './named-inputs.ts';
import { requireRows, type TokenRows } from './token-rows.ts';

/** What {@link tokenStatistics} says about the tokens that count. */
export interface TokenStatistics {
  /** How many there are. Without any, the other numbers are 0. */
  readonly count: number;
  readonly mean: number;
  /** Population standard deviation. */
  readonly deviation: number;
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * Count, mean, population standard deviation, minimum and maximum over the tokens that count. Without `masks`, all do.
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite.
 */
export function tokenStatistics(values: TokenRows, masks?: TokenRows): TokenStatistics {
  requireRows('tokenStatistics', { values, masks });
  const { count, mean, variance } = moments(values, masks, { divisor: 'population', countEpsilon: 0 });
  if (count === 0) return { count, mean: 0, deviation: 0, minimum: 0, maximum: 0 };
  let minimum = Number.POSITIVE_INFINITY;
  let maximum = Number.NEGATIVE_INFINITY;
  for (let b = 0; b < values.length; b++) {
    for (let t = 0; t < values[b]!.length; t++) {
      if (masks !== undefined && masks[b]![t] === 0) continue;
      minimum = Math.min(minimum, values[b]![t]!);
      maximum = Math.max(maximum, values[b]![t]!);
    }
  }
  return { count, mean, deviation: Math.sqrt(variance), minimum, maximum };
}

/**
 * Effective sample size of the weights, as a share of their number, `(Σ w)² / (n Σ w²)`.
 *
 * 1 for equal weights, `1/n` if one token has all the weight. 0 if no token counts or no weight is left.
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite.
 * @see Kish 1965, Survey Sampling
 */
export function effectiveSampleSize(weights: TokenRows, masks?: TokenRows): number {
  requireRows('effectiveSampleSize', { weights, masks });
  const { mean, deviation } = tokenStatistics(weights, masks);
  const square = mean ** 2 + deviation ** 2;
  return square === 0 ? 0 : mean ** 2 / square;
}

/** What {@link explainedVariance} reads. The shape of each is `[B][T]`. */
export interface ExplainedVarianceInputs {
  /** The critic's. */
  readonly values: TokenRows;
  readonly returns: TokenRows;
  /** 1 where a token counts. Default: everywhere. */
  readonly masks?: TokenRows | undefined;
}

/** Returns whose deviation is a smaller share of their root mean square than this hardly vary. */
const leastDeviation = 0.05;

/**
 * How much of the returns the critic explains, `1 − Var(R − V) / Var(R)`. 1 is all, 0 what a constant would, below 0 worse
 * than a constant.
 *
 * `undefined` if the returns hardly vary, because the quotient then says nothing of the critic: their deviation is at most 5 % of
 * their root mean square. Returns of 1 have a smaller deviation when fewer than one in 400 is 0.
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite.
 */
export function explainedVariance(inputs: ExplainedVarianceInputs): number | undefined {
  const needed = ['values', 'returns'] as const;
  const { values, returns, masks } = namedInputs('explainedVariance', inputs, needed, ['masks']);
  requireRows('explainedVariance', { values, returns, masks });
  const total = maskedVariance(returns, masks);
  const meanSquare = total + maskedMean(returns, masks) ** 2;
  if (total <= leastDeviation ** 2 * meanSquare) return undefined;
  const errors = returns.map((row, b) => Float64Array.from(row, (value, t) => value - values[b]![t]!));
  return 1 - maskedVariance(errors, masks) / total;
}

/** What {@link samplerGap} reads. The shape of each is `[B][T]`. */
export interface SamplerGapInputs {
  /** `ln π_prox`, the trainer's. */
  readonly trainerLogprobs: TokenRows;
  /** `ln π_b`, the sampler's. */
  readonly samplerLogprobs: TokenRows;
  /** 1 where a token counts. Default: everywhere. */
  readonly masks?: TokenRows | undefined;
}

/** How far sampler and trainer are apart, as means over the tokens that count. */
export interface SamplerGap {
  /** Mean of `ln π_b − ln π_prox`: k1 of `KL(sampler ‖ trainer)`, in nats. */
  readonly k1: number;
  /** Mean of `ρ − 1 − ln ρ` with `ρ = π_prox / π_b`: k3 of the same, never negative. */
  readonly k3: number;
  /** Mean of `|ln ρ|`. */
  readonly absolute: number;
  /** Largest ρ. */
  readonly maxRatio: number;
}

/**
 * The gap between sampler and trainer. Log-ratios are limited to ± 20. All 0, and `maxRatio` 1, when no token counts.
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite.
 */
export function samplerGap(inputs: SamplerGapInputs): SamplerGap {
  const needed = ['trainerLogprobs', 'samplerLogprobs'] as const;
  const { trainerLogprobs, samplerLogprobs, masks } = namedInputs('samplerGap', inputs, needed, ['masks']);
  requireRows('samplerGap', { trainerLogprobs, samplerLogprobs, masks });
  const totals = { count: 0, k1: 0, k3: 0, absolute: 0, maxRatio: 0 };
  for (let b = 0; b < trainerLogprobs.length; b++) {
    for (let t = 0; t < trainerLogprobs[b]!.length; t++) {
      if (masks !== undefined && masks[b]![t] === 0) continue;
      const difference = trainerLogprobs[b]![t]! - samplerLogprobs[b]![t]!;
      const logRatio = Math.min(20, Math.max(-20, difference));
      const ratio = Math.exp(logRatio);
      totals.count += 1;
      totals.k1 -= logRatio;
      totals.k3 += ratio - 1 - logRatio;
      totals.absolute += Math.abs(logRatio);
      totals.maxRatio = Math.max(totals.maxRatio, ratio);
    }
  }
  const { count, k1, k3, absolute, maxRatio } = totals;
  if (count === 0) return { k1: 0, k3: 0, absolute: 0, maxRatio: 1 };
  return { k1: k1 / count, k3: k3 / count, absolute: absolute / count, maxRatio };
}

/** Options of {@link normalizedWeights}. */
export interface NormalizationOptions {
  /** The mean is over tokens, or over the means of sequences, those without tokens left out. */
  readonly over: 'tokens' | 'sequences';
  /** Added to a number of tokens that divides. Default 0 (verl has 1e-8). */
  readonly countEpsilon?: number | undefined;
}

/**
 * Weights divided by their mean over the tokens that count, so that a correction changes no step size. A mean of at most 1e-8
 * divides nothing.
 *
 * **Needs the whole batch of an update at once.**
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite.
 */
export function normalizedWeights(
  weights: TokenRows,
  masks: TokenRows,
  options: NormalizationOptions,
): Float64Array[] {
  requireRows('normalizedWeights', { weights, masks });
  requireFields('normalizedWeights', { countEpsilon: 'number?' }, options);
  const { over, countEpsilon = 0 } = options;
  requireChoice('normalizedWeights', 'over', over, ['tokens', 'sequences']);
  const mean =
    over === 'tokens'
      ? maskedMean(weights, masks, { countEpsilon })
      : meanOfRowMeans(weights, masks, countEpsilon);
  return weights.map((row) => Float64Array.from(row, (weight) => (mean > 1e-8 ? weight / mean : weight)));
}

function meanOfRowMeans(weights: TokenRows, masks: TokenRows, countEpsilon: number): number {
  const means = maskedRowMeans(weights, masks, { countEpsilon });
  const counted = masks.map((mask) => (Array.prototype.some.call(mask, (counts) => counts !== 0) ? 1 : 0));
  return maskedMean([means], [counted]);
}

/**
 * Share of groups that teach nothing because all their rewards are equal, and 0 without groups.
 *
 * @param groups - Rewards; `null` where a trajectory could not be scored. Shape `[P][G]`.
 * @throws ArgumentError for a reward that is neither a number nor `null`.
 */
export function zeroVarianceShare(groups: readonly (readonly (number | null)[])[]): number {
  requireRewards('zeroVarianceShare', groups);
  if (groups.length === 0) return 0;
  return groups.filter((group) => !hasRewardVariance(group)).length / groups.length;
}
