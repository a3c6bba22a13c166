import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { requireRows, type TokenRows } from './token-rows.ts';

const meanSchema = z.strictObject({
  /** Added to the number of tokens before dividing by it (verl has 1e-8). Default 0. */
  countEpsilon: z.number().nonnegative().default(0),
});
const varianceSchema = meanSchema.extend({
  /** n − 1, or n (`'population'`). Default `'unbiased'`. */
  divisor: z.enum(['unbiased', 'population']).default('unbiased'),
});

/** Options of {@link maskedMean}. */
export interface MaskedMeanOptions extends z.input<typeof meanSchema> {}

/** Options of {@link maskedVariance}. */
export interface MaskedVarianceOptions extends z.input<typeof varianceSchema> {}

/** Count, mean and variance of the tokens that a mask keeps. */
export interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
}

/**
 * Mean over the tokens that count, `Σ m·x / (Σ m + ε)`. It is 0 where none does. A mask that is not given keeps all.
 *
 * @throws ArgumentError for values that are not finite or a mask of another shape.
 */
export function maskedMean(values: TokenRows, masks?: TokenRows, options: MaskedMeanOptions = {}): number {
  const { countEpsilon } = parseOptions('maskedMean', meanSchema, options, 'MaskedMeanOptions');
  requireRows('maskedMean', { values, masks });
  const { count, sum } = totals(values, masks);
  return count === 0 ? 0 : sum / (count + countEpsilon);
}

/**
 * {@link maskedMean} of every row by itself. Shape `[B]`.
 *
 * @throws ArgumentError for values that are not finite or a mask of another shape.
 */
export function maskedRowMeans(
  values: TokenRows,
  masks?: TokenRows,
  options: MaskedMeanOptions = {},
): Float64Array {
  const { countEpsilon } = parseOptions('maskedRowMeans', meanSchema, options, 'MaskedMeanOptions');
  requireRows('maskedRowMeans', { values, masks });
  return Float64Array.from(values, (row, b) => {
    const { count, sum } = totals([row], masks && [masks[b]!]);
    return count === 0 ? 0 : sum / (count + countEpsilon);
  });
}

/**
 * Variance over the tokens that count, `Σ m·(x − mean)² / (n + ε)`, times `n / (n − 1)` where unbiased.
 *
 * 0 where it is not defined, which is without a token, or with one token and the unbiased divisor. There verl raises, and TRL
 * gives NaN.
 *
 * @throws ArgumentError for values that are not finite or a mask of another shape.
 */
export function maskedVariance(
  values: TokenRows,
  masks?: TokenRows,
  options: MaskedVarianceOptions = {},
): number {
  requireRows('maskedVariance', { values, masks });
  return moments(
    values,
    masks,
    parseOptions('maskedVariance', varianceSchema, options, 'MaskedVarianceOptions'),
  ).variance;
}

/** All of {@link maskedMean} and {@link maskedVariance}, of arguments that were checked. */
export function moments(
  values: TokenRows,
  masks: TokenRows | undefined,
  { divisor, countEpsilon }: z.output<typeof varianceSchema>,
): Moments {
  const { count, sum } = totals(values, masks);
  if (count === 0) return { count, mean: 0, variance: 0 };
  const mean = sum / (count + countEpsilon);
  if (divisor === 'unbiased' && count < 2) return { count, mean, variance: 0 };
  let squares = 0;
  for (let b = 0; b < values.length; b++) {
    const row = values[b]!;
    const mask = masks?.[b];
    for (let t = 0; t < row.length; t++)
      if (mask === undefined || mask[t] !== 0) squares += (row[t]! - mean) ** 2;
  }
  const correction = divisor === 'unbiased' ? count / (count - 1) : 1;
  return { count, mean, variance: (squares / (count + countEpsilon)) * correction };
}

function totals(values: TokenRows, masks: TokenRows | undefined): { count: number; sum: number } {
  let count = 0;
  let sum = 0;
  for (let b = 0; b < values.length; b++) {
    const row = values[b]!;
    const mask = masks?.[b];
    for (let t = 0; t < row.length; t++) {
      if (mask !== undefined && mask[t] === 0) continue;
      count++;
      sum += row[t]!;
    }
  }
  return { count, sum };
}
