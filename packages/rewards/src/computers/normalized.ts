import { ArgumentError, requireArguments } from '@rlp/core';
import * as z from 'zod';

/** Scores of one group. `null` is unscorable. Shape: `[G]`. */
export type GroupScores = readonly (number | null)[];

/**
 * Scores standardised within their group: `(s − mean) / std`, population deviation (divisor n). If the deviation is at
 * most `1e-8`, they are only centred.
 *
 * `null` stays `null` and is left out. A score alone in its group stays as it is, because there is nothing to compare it with.
 *
 * @throws ArgumentError for scores that are not finite.
 */
export function standardizedRewards(scores: GroupScores): (number | null)[] {
  requireFinite('standardizedRewards', scores);
  return overPresent(scores, (present) => {
    if (present.length < 2) return present;
    const { mean, std } = momentsOf(present);
    const divisor = std > 1e-8 ? std : 1;
    return present.map((score) => (score - mean) / divisor);
  });
}

/** How equal scores share ranks: their mean, the lowest, the highest, or without gaps after them. */
export type RankTies = 'average' | 'minimum' | 'maximum' | 'dense';

/**
 * Ranks from 1 (lowest score) up. `null` stays `null` and takes no rank.
 *
 * `ties` (`'average'`): two equal scores at places 2 and 3 both get 2.5, so the sum of ranks does not depend on ties;
 * `'minimum'` gives both 2, `'maximum'` 3, `'dense'` 2 with the next score at 3.
 *
 * @throws ArgumentError for scores that are not finite.
 */
export function ranks(scores: GroupScores, ties: RankTies = 'average'): (number | null)[] {
  requireFinite('ranks', scores);
  return overPresent(scores, (present) => ranksOf(present, ties));
}

function ranksOf(scores: readonly number[], ties: RankTies): number[] {
  const sorted = scores.toSorted((a, b) => a - b);
  const rankOf = new Map<number, number>();
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (end < sorted.length && sorted[end] === sorted[start]) end += 1;
    const shared = {
      average: (start + 1 + end) / 2,
      minimum: start + 1,
      maximum: end,
      dense: rankOf.size + 1,
    };
    rankOf.set(sorted[start]!, shared[ties]);
    start = end;
  }
  return scores.map((score) => rankOf.get(score)!);
}

/** Schema of {@link RelativeRewardsOptions}. */
export const relativeSchema = z.strictObject({
  /** How equal scores share ranks. Default `'average'`. */
  ties: z.enum(['average', 'minimum', 'maximum', 'dense']).default('average'),
  /**
   * `'standardized'`: `(rank − mean) / (std + 1e-8)`, population deviation. `'unit'`: `(rank − 1) / (n − 1)`, from 0 for the worst to 1
   * for the best. Default `'standardized'`.
   */
  scale: z.enum(['standardized', 'unit']).default('standardized'),
});

/** Options of {@link relativeRewards}. */
export interface RelativeRewardsOptions extends z.input<typeof relativeSchema> {}

/**
 * Rewards from ranks. Only who did better than whom counts, not by how much, so outliers have no pull.
 *
 * All-equal scores, and a score alone in its group, give 0 (`'unit'`: 0.5). `null` stays `null` and is left out.
 *
 * @throws ArgumentError for scores that are not finite.
 */
export function relativeRewards(
  scores: GroupScores,
  { ties = 'average', scale = 'standardized' }: RelativeRewardsOptions = {},
): (number | null)[] {
  requireFinite('relativeRewards', scores);
  return overPresent(scores, (present) => {
    const ranked = ranksOf(present, ties);
    if (scale === 'unit') {
      const top = ties === 'dense' ? Math.max(...ranked) : ranked.length;
      const isFlat = ranked.every((rank) => rank === ranked[0]);
      return ranked.map((rank) => (isFlat ? 0.5 : (rank - 1) / (top - 1)));
    }
    const { mean, std } = momentsOf(ranked);
    return ranked.map((rank) => (rank - mean) / (std + 1e-8));
  });
}

/** Results of the values that are there, at their places. */
export function overPresent<Value, Result>(
  values: readonly (Value | null)[],
  compute: (present: readonly Value[]) => readonly Result[],
): (Result | null)[] {
  const results = compute(values.filter((value) => value !== null));
  let next = 0;
  return values.map((value) => (value === null ? null : results[next++]!));
}

/** Mean and population deviation. */
export function momentsOf(values: readonly number[]): { readonly mean: number; readonly std: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, std: Math.sqrt(variance) };
}

function requireFinite(owner: string, scores: GroupScores): void {
  requireArguments(owner, { scores: 'list' }, scores);
  const g = scores.findIndex((score) => score !== null && !Number.isFinite(score));
  if (g < 0) return;
  throw new ArgumentError(
    `${owner}: scores[${g}] must be a finite number, or null if unscorable, got ${String(scores[g])}`,
  );
}
