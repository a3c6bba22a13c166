import { ArgumentError, parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { requireFinite, requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';

const schema = z.strictObject({ length: z.number().positive().optional() });

/**
 * Factor of every row that turns a plain masked sum of token losses into a mean over parts of a batch.
 *
 *     f_b = 1 / (#parts · max(1, trained tokens of b's part))
 *
 * `parts` names the part of every row. One part for all gives the token mean, one per row the sequence mean, one per prompt
 * the prompt mean. With `length` the tokens of a part are not counted but taken to be so many (Dr. GRPO). Parts without
 * trained tokens count. Shape `[B]`.
 *
 * Multiply advantages by it with {@link scaledAdvantages} where a backend can only sum. Otherwise use
 * `aggregationWeights`.
 *
 * @throws ArgumentError unless there is one part per row, OptionsError for a length that is not positive.
 */
export function reductionFactors(
  masks: TokenRows,
  parts: readonly unknown[],
  options: { /** Tokens of every part. Default: counted. */ readonly length?: number } = {},
): Float64Array {
  requireRows('reductionFactors', { masks });
  requireArguments('reductionFactors', { parts: 'list' }, parts);
  const { length } = parseOptions('reductionFactors', schema, options);
  if (parts.length !== masks.length) {
    throw new ArgumentError(
      `reductionFactors: parts must have ${masks.length} entries, one per row, got ${parts.length}`,
    );
  }
  const tokens = new Map<unknown, number>();
  for (const [b, part] of parts.entries()) {
    let count = tokens.get(part) ?? 0;
    for (let t = 0; t < masks[b]!.length; t++) if (masks[b]![t] !== 0) count++;
    tokens.set(part, count);
  }
  return Float64Array.from(parts, (part) => 1 / (tokens.size * (length ?? Math.max(1, tokens.get(part)!))));
}

/**
 * Advantages times one factor per row. Shape `[B][T]`.
 *
 * @throws ArgumentError for numbers that are not finite or factors that are not one per row.
 */
export function scaledAdvantages(advantages: TokenRows, factors: ArrayLike<number>): Float64Array[] {
  requireRows('scaledAdvantages', { advantages });
  requireArguments('scaledAdvantages', { factors: 'list' }, factors);
  requireFinite('scaledAdvantages', 'factors', factors, advantages.length);
  const result = zeroRows(advantages);
  for (let b = 0; b < result.length; b++) {
    for (let t = 0; t < result[b]!.length; t++) result[b]![t] = advantages[b]![t]! * factors[b]!;
  }
  return result;
}
