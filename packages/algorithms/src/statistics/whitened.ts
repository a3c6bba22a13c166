import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { moments } from './masked.ts';
import { requireRows, type TokenRows, zeroRows } from './token-rows.ts';

/** Schema of {@link WhiteningOptions}. */
export const whiteningOptionsSchema = z.strictObject({
  /** Removes the mean, or keeps it. Default `'remove'`. */
  mean: z.enum(['remove', 'keep']).default('remove'),
  /** Divides by the deviation, or not. Default `'std'`. */
  scale: z.enum(['std', 'none']).default('std'),
  /** Divisor of the variance: n − 1, or n (`'population'`). Default `'unbiased'`. */
  divisor: z.enum(['unbiased', 'population']).default('unbiased'),
  /** Keeps the division finite. Default 1e-8. */
  epsilon: z.number().nonnegative().default(1e-8),
  /**
   * `'inside-root'`: `√(variance + ε)`. `'added'`: `std + ε`. `'variance-floor'`: `√max(variance, ε)`. Default
   * `'inside-root'`.
   */
  epsilonPlacement: z.enum(['inside-root', 'added', 'variance-floor']).default('inside-root'),
  /** Added to the token count before dividing by it. Default 0. */
  countEpsilon: z.number().nonnegative().default(0),
  /** Tokens outside the mask become 0, mapped as the others, or the image of 0. Default `'zero'`. */
  outside: z.enum(['zero', 'same-map', 'map-of-zero']).default('zero'),
});

/**
 * Options of {@link whitened}.
 *
 * | project | options |
 * |---|---|
 * | verl | `countEpsilon: 1e-8, outside: 'same-map'` |
 * | TRL | `outside: 'same-map'` |
 * | OpenRLHF | `divisor: 'population', epsilonPlacement: 'variance-floor'` |
 * | AReaL | `divisor: 'population', epsilon: 1e-5, epsilonPlacement: 'added', outside: 'map-of-zero'` |
 *
 * The default is TRL's formula. Its small epsilon changes nothing if values differ. Inside the root it limits the factor to 10⁴
 * if they hardly do.
 */
export interface WhiteningOptions extends z.input<typeof whiteningOptionsSchema> {}

/**
 * Values shifted to mean 0 and scaled to deviation 1 over the tokens that count.
 *
 *     y = (x − mean) / √(variance + ε)
 *
 * Fewer than two tokens with the unbiased divisor have no deviation. They are only shifted, to exactly 0. No token gives zeros.
 * Shape as `values`, `[B][T]`. A mask that is not given keeps all.
 *
 * @throws ArgumentError for values that are not finite or a mask of another shape, OptionsError for wrong options.
 */
export function whitened(
  values: TokenRows,
  masks?: TokenRows,
  options: WhiteningOptions = {},
): Float64Array[] {
  const resolved = parseOptions('whitened', whiteningOptionsSchema, options);
  requireRows('whitened', { values, masks });
  const { count, mean, variance } = moments(values, masks, resolved);
  const result = zeroRows(values);
  if (count === 0) return result;
  const isUndefined = count < 2 && resolved.divisor === 'unbiased';
  const center = isUndefined ? meanOfOne(values, masks) : mean;
  const divisor = isUndefined || resolved.scale === 'none' ? 1 : deviation(variance, resolved);
  const offset = resolved.mean === 'keep' ? center : 0;
  for (let b = 0; b < result.length; b++) {
    const row = values[b]!;
    const mask = masks?.[b];
    const to = result[b]!;
    for (let t = 0; t < to.length; t++) {
      const isInside = mask === undefined || mask[t] !== 0;
      if (!isInside && resolved.outside === 'zero') continue;
      const value = isInside || resolved.outside === 'same-map' ? row[t]! : 0;
      to[t] = divisor === 0 ? offset : (value - center) / divisor + offset;
    }
  }
  return result;
}

/** The only token that counts. `countEpsilon` would leave a rest of it. */
function meanOfOne(values: TokenRows, masks: TokenRows | undefined): number {
  for (const [b, row] of values.entries()) {
    for (let t = 0; t < row.length; t++) if (masks === undefined || masks[b]![t] !== 0) return row[t]!;
  }
  return 0;
}

function deviation(
  variance: number,
  { epsilon, epsilonPlacement }: z.output<typeof whiteningOptionsSchema>,
): number {
  switch (epsilonPlacement) {
    case 'inside-root':
      return Math.sqrt(variance + epsilon);
    case 'added':
      return Math.sqrt(variance) + epsilon;
    case 'variance-floor':
      return Math.sqrt(Math.max(variance, epsilon));
  }
}
