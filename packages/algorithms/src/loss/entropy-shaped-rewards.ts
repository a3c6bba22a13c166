import { ArgumentError, parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { moments } from '../statistics/masked.ts';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireFinite, requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';

const schema = z.strictObject({
  /** Weight α₁ of the sequence's own reward. Default 1. */
  base: z.number().default(1),
  /** Weight α₂ of the share of entropy. Default 0.1. */
  bonus: z.number().default(0.1),
  /** A sequence succeeds if its reward is larger. Default 0.5. */
  successAbove: z.number().default(0.5),
  /** Keeps `1/H` finite. Default 1e-8. */
  epsilon: z.number().positive().default(1e-8),
});

/** Options of {@link entropyShapedRewards}. */
export interface EntropyShapingOptions extends z.input<typeof schema> {}

const whiteningSchema = z.strictObject({ epsilon: z.number().nonnegative().default(1e-8) });

/** What {@link entropyShapedRewards} reads. */
export interface EntropyShapingInputs {
  /** One per sequence. Shape `[B]`. */
  readonly rewards: ArrayLike<number>;
  /** Of the policy that sampled, per token, in nats. Rows are as long as their sequences. Shape `[B][T]`. */
  readonly entropies: TokenRows;
}

/**
 * GTPO's token rewards.
 *
 * At each position, successes share a bonus by their entropies. Failures share a malus by the inverses of their entropies, so
 * confident mistakes cost most.
 *
 *     success: α₁·r + α₂ · d_t · H_t / Σ H_t        failure: −α₁ − α₂ · h_t · (1/H_t) / Σ (1/H_t)
 *
 * with `d_t` and `h_t` the numbers of successes and failures that are still running at position t. Shape `[B][T]`.
 *
 * **Needs the whole group at once.** `separatelyWhitened` makes advantages of the result.
 *
 * @throws ArgumentError for mismatched shapes or numbers that are not finite; OptionsError for options outside their ranges.
 * @see Tan et al. 2025 (GTPO), eq. 3 and 5, https://arxiv.org/abs/2508.04349
 */
export function entropyShapedRewards(
  inputs: EntropyShapingInputs,
  options: EntropyShapingOptions = {},
): Float64Array[] {
  const resolved = parseOptions('entropyShapedRewards', schema, options, 'EntropyShapingOptions');
  const { rewards, entropies } = namedInputs('entropyShapedRewards', inputs, ['rewards', 'entropies']);
  requireRows('entropyShapedRewards', { entropies });
  requireFinite('entropyShapedRewards', 'rewards', rewards, entropies.length);
  const shaped = zeroRows(entropies);
  const longest = entropies.reduce((most, { length }) => Math.max(most, length), 0);
  for (let t = 0; t < longest; t++) {
    const running = [...entropies.keys()].filter((row) => t < entropies[row]!.length);
    const succeeds = (row: number) => rewards[row]! > resolved.successAbove;
    const share = (rows: readonly number[], weigh: (entropy: number) => number, row: number) => {
      const total = rows.reduce((sum, other) => sum + weigh(entropies[other]![t]!), 0);
      return (rows.length * weigh(entropies[row]![t]!)) / Math.max(total, resolved.epsilon);
    };
    const successes = running.filter(succeeds);
    const failures = running.filter((row) => !succeeds(row));
    for (const row of successes) {
      shaped[row]![t] = resolved.base * rewards[row]! + resolved.bonus * share(successes, (h) => h, row);
    }
    for (const row of failures) {
      const inverse = (entropy: number) => 1 / (entropy + resolved.epsilon);
      shaped[row]![t] = -resolved.base - resolved.bonus * share(failures, inverse, row);
    }
  }
  return shaped;
}

/**
 * Values whitened separately for each kind of row, `(x − mean) / √(population variance + ε)`.
 *
 * @param kinds - To which part a row belongs. Shape `[B]`.
 * @throws ArgumentError for mismatched shapes or numbers that are not finite, OptionsError for an epsilon below 0.
 * @see Tan et al. 2025 (GTPO), eq. 6, https://arxiv.org/abs/2508.04349
 */
export function separatelyWhitened(
  values: TokenRows,
  kinds: readonly unknown[],
  options: { readonly epsilon?: number } = {},
): Float64Array[] {
  requireArguments('separatelyWhitened', { kinds: 'list' }, kinds);
  const { epsilon } = parseOptions('separatelyWhitened', whiteningSchema, options);
  requireRows('separatelyWhitened', { values });
  if (kinds.length !== values.length) {
    throw new ArgumentError(
      `separatelyWhitened: kinds must have ${values.length} entries, one per row, got ${kinds.length}`,
    );
  }
  const result = zeroRows(values);
  for (const kind of new Set(kinds)) {
    const rows = [...values.keys()].filter((row) => kinds[row] === kind);
    const part = rows.map((row) => values[row]!);
    const { mean, variance } = moments(part, undefined, { divisor: 'population', countEpsilon: 0 });
    const deviation = Math.sqrt(variance + epsilon);
    for (const row of rows) {
      for (let t = 0; t < values[row]!.length; t++) result[row]![t] = (values[row]![t]! - mean) / deviation;
    }
  }
  return result;
}
