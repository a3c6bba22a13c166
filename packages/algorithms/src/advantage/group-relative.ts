import { parseOptions } from '@rlp/core';
import { z } from 'zod';

/** Schema of {@link GroupRelativeOptions}. */
export const groupRelativeSchema = z.strictObject({
  scale: z.enum(['group-std', 'batch-std', 'none']).default('group-std'),
  std: z.enum(['unbiased', 'population']).default('unbiased'),
  epsilon: z.number().nonnegative().default(1e-6),
  epsilonPlacement: z.enum(['added', 'variance-floor', 'threshold']).default('added'),
  singleMember: z.enum(['zero', 'raw']).default('zero'),
});

/**
 * How rewards of a group become advantages.
 *
 * - `scale` (`'group-std'`): what the centred reward is divided by: the group's own deviation, the deviation of all
 *   rewards (`'batch-std'`), or nothing (`'none'`, Dr. GRPO: no bias towards groups that nearly agree).
 * - `std` (`'unbiased'`): divisor n − 1, or n (`'population'`).
 * - `epsilon` (1e-6) and where it sits, `epsilonPlacement` (`'added'`): `std + ε`; `'variance-floor'`:
 *   `√max(variance, ε) + ε`; `'threshold'`: divides by the bare std, and only where it exceeds ε.
 * - `singleMember` (`'zero'`): a reward alone in its group teaches nothing; `'raw'` takes baseline 0 and deviation 1.
 *
 * | project | options |
 * |---|---|
 * | verl GRPO | `singleMember: 'raw'` |
 * | verl GRPO, vectorised | `epsilonPlacement: 'variance-floor'`, `singleMember: 'raw'` |
 * | TRL | `epsilon: 1e-4` |
 * | OpenRLHF | `epsilon: 1e-9` |
 * | ART | `std: 'population'` |
 * | Dr. GRPO | `scale: 'none'` |
 */
export type GroupRelativeOptions = z.input<typeof groupRelativeSchema>;

type Resolved = z.output<typeof groupRelativeSchema>;

/** Rewards of P groups; `null` is unscorable. Shape: `[P][G]`, groups may differ in size. */
export type GroupRewards = readonly (readonly (number | null)[])[];

/**
 * Group-relative advantages: how much better than its siblings a completion did.
 *
 *     A[p][g] = (r[p][g] − mean_g r[p]) / (std + ε)
 *
 * Rewards that are `null` get advantage 0 and are left out of every mean and deviation. A group whose rewards are all
 * equal gets exactly 0. Shape: as the input, `[P][G]`.
 *
 * @throws OptionsError for options outside their ranges.
 * @see Shao et al. 2024 (DeepSeekMath), §4.1, https://arxiv.org/abs/2402.03300
 * @see Liu et al. 2025 (Dr. GRPO), https://arxiv.org/abs/2503.20783
 */
export function groupRelativeAdvantages(
  groups: GroupRewards,
  options: GroupRelativeOptions = {},
): number[][] {
  const resolved = parseOptions('groupRelativeAdvantages', groupRelativeSchema, options);
  const batchDivisor =
    resolved.scale === 'batch-std' ? divisor(scorable(groups.flat()), resolved) : undefined;
  return groups.map((rewards) => groupAdvantages(rewards, resolved, batchDivisor));
}

function groupAdvantages(
  rewards: readonly (number | null)[],
  options: Resolved,
  batchDivisor: number | undefined,
): number[] {
  const scored = scorable(rewards);
  const raw = scored.length === 1 && options.singleMember === 'raw';
  if (!raw && !hasRewardVariance(rewards)) return rewards.map(() => 0);
  const baseline = raw ? 0 : mean(scored);
  const scale =
    options.scale === 'none' ? 1 : (batchDivisor ?? (raw ? unitDivisor(options) : divisor(scored, options)));
  return rewards.map((reward) => (reward === null ? 0 : (reward - baseline) / scale));
}

/** Whether the scorable rewards of a group differ; a group without variance teaches nothing. */
export function hasRewardVariance(rewards: readonly (number | null)[]): boolean {
  const scored = scorable(rewards);
  return scored.some((reward) => reward !== scored[0]);
}

/** What centred rewards are divided by. */
function divisor(values: readonly number[], options: Resolved): number {
  const degrees = options.std === 'unbiased' ? values.length - 1 : values.length;
  if (degrees < 1) return unitDivisor(options);
  const center = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - center) ** 2;
  return place(squares / degrees, options);
}

/** The divisor of a deviation of 1: what a value alone is divided by. */
function unitDivisor(options: Resolved): number {
  return place(1, options);
}

function place(variance: number, { epsilon, epsilonPlacement }: Resolved): number {
  const std = Math.sqrt(variance);
  switch (epsilonPlacement) {
    case 'added':
      return std + epsilon;
    case 'variance-floor':
      return Math.sqrt(Math.max(variance, epsilon)) + epsilon;
    case 'threshold':
      return std > epsilon ? std : 1;
  }
}

function scorable(rewards: readonly (number | null)[]): number[] {
  return rewards.filter((reward) => reward !== null);
}

function mean(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total / values.length;
}
