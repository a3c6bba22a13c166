import {
  ArgumentError,
  described,
  type NamedSchema,
  parseOptions,
  requireArguments,
  requireFields,
} from '@rlp/core';
import * as z from 'zod';
import { isUsable, requireList } from '../statistics/token-rows.ts';

const schema = z.strictObject({
  /**
   * Subtracts the group's mean (GRPO), the mean of the others (RLOO), the mean weighted by lengths (OPO) or
   * nothing. `'second-best'` gives the best member its lead over the second and all others 0. Default `'mean'`.
   */
  baseline: z.enum(['mean', 'leave-one-out', 'length-weighted-mean', 'second-best', 'none']).default('mean'),
  /**
   * Divides by the group's deviation, the deviation of all rewards, the deviation of all differences from the
   * baseline (TRL's `normalize_advantages`), the group's mean (MaxRL), the share of rewards that are not 0 (GPG) or nothing
   * (Dr. GRPO). Default `'group-std'`.
   */
  scale: z
    .enum(['group-std', 'batch-std', 'advantage-std', 'group-mean', 'nonzero-share', 'none'])
    .default('group-std'),
  /** Divisor of the deviation: n − 1, or n (`'population'`). Default `'unbiased'`. */
  std: z.enum(['unbiased', 'population']).default('unbiased'),
  /** Keeps the division finite. Default 0.000001. */
  epsilon: z.number().nonnegative().default(1e-6),
  /**
   * `'added'`: `std + ε`. `'variance-floor'`: `√max(variance, ε) + ε`. `'threshold'`: divides only if std exceeds ε.
   * Default `'added'`.
   */
  epsilonPlacement: z.enum(['added', 'variance-floor', 'threshold']).default('added'),
  /** A reward alone in its group gets advantage 0, or is kept (`'raw'`). Default `'zero'`. */
  singleMember: z.enum(['zero', 'raw']).default('zero'),
  /** With `scale: 'group-mean'`: a group whose mean is at most ε gets 0, or is divided all the same. Default `'zero'`. */
  smallMean: z.enum(['zero', 'divide']).default('zero'),
});

/** Options of {@link groupRelativeAdvantages}. The table `advantagePresets` has the values of other projects. */
export interface GroupRelativeOptions extends z.input<typeof schema> {}

/** {@link GroupRelativeOptions} with every default filled in. */
export interface ResolvedGroupRelativeOptions extends z.output<typeof schema> {}

/** Schema of {@link GroupRelativeOptions}. */
export const groupRelativeSchema: NamedSchema<GroupRelativeOptions, ResolvedGroupRelativeOptions> = schema;

/** Rewards of P groups. `null` is unscorable. Shape `[P][G]`, groups may differ in size. */
export type GroupRewards = readonly (readonly (number | null)[])[];

/** What `baseline: 'length-weighted-mean'` reads besides rewards. */
export interface GroupLengths {
  /** Trained tokens of every completion. Shape `[P][G]`. */
  readonly lengths?: readonly (readonly number[])[] | undefined;
}

/**
 * Group-relative advantages: how much better than its siblings a completion did.
 *
 *     A[p][g] = (r[p][g] − baseline(r[p])) / (scale(r[p]) + ε)
 *
 * Rewards that are `null` get advantage 0 and are left out of every mean and deviation. A group whose rewards are all
 * equal gets exactly 0 (unless without baseline), and so does an empty one. Shape as the input, `[P][G]`.
 *
 * @throws OptionsError for options outside their ranges, ArgumentError for rewards that are not finite and for lengths
 *   that are missing or do not fit.
 * @see Shao et al. 2024 (DeepSeekMath), §4.1, https://arxiv.org/abs/2402.03300
 * @see Liu et al. 2025 (Dr. GRPO), https://arxiv.org/abs/2503.20783
 * @see Ahmadian et al. 2024 (RLOO), https://arxiv.org/abs/2402.14740
 * @see Hao et al. 2025 (OPO), https://arxiv.org/abs/2505.23585
 * @see Chu et al. 2025 (GPG), https://arxiv.org/abs/2504.02546
 */
export function groupRelativeAdvantages(
  groups: GroupRewards,
  options: GroupRelativeOptions = {},
  rest: GroupLengths = {},
): number[][] {
  requireRewards('groupRelativeAdvantages', groups);
  const { lengths } = requireFields('groupRelativeAdvantages', { lengths: 'list?' }, rest);
  const resolved = parseOptions(
    'groupRelativeAdvantages',
    groupRelativeSchema,
    options,
    'GroupRelativeOptions',
  );
  if (resolved.baseline === 'length-weighted-mean') requireLengths(groups, lengths);
  const advantages = (batch: number | undefined) =>
    groups.map((rewards, p) => groupAdvantages(rewards, resolved, { batch, lengths: lengths?.[p] }));
  if (resolved.scale !== 'advantage-std') return advantages(batchDivisor(groups, resolved));
  const differences = advantages(1);
  const divisor = stdDivisor(compared(groups, differences, resolved), resolved);
  return differences.map((row) => row.map((value) => (value === 0 || divisor === 0 ? 0 : value / divisor)));
}

/** Differences from the baseline, without those of rewards that nothing could be compared with. */
function compared(
  groups: GroupRewards,
  differences: readonly (readonly number[])[],
  { baseline, singleMember }: ResolvedGroupRelativeOptions,
): number[] {
  return differences.flatMap((row, p) => {
    const rewards = groups[p]!;
    const isLeftOut = scorable(rewards).length < 2 && baseline !== 'none' && singleMember === 'zero';
    return isLeftOut ? [] : row.filter((_, g) => rewards[g] !== null);
  });
}

function groupAdvantages(
  rewards: readonly (number | null)[],
  options: ResolvedGroupRelativeOptions,
  { batch, lengths }: { readonly batch: number | undefined; readonly lengths: readonly number[] | undefined },
): number[] {
  const scored = scorable(rewards);
  const isRaw = options.baseline === 'none' || (scored.length === 1 && options.singleMember === 'raw');
  if (!isRaw && !hasRewardVariance(rewards)) return rewards.map(() => 0);
  const divisor = batch ?? groupDivisor(scored, options);
  if (divisor === 0) return rewards.map(() => 0);
  const differences = isRaw ? rewards : centered(rewards, scored, options.baseline, lengths);
  return differences.map((difference) => (difference === null ? 0 : difference / divisor));
}

/** Rewards less their baseline. `null` stays. */
function centered(
  rewards: readonly (number | null)[],
  scored: readonly number[],
  baseline: ResolvedGroupRelativeOptions['baseline'],
  lengths: readonly number[] | undefined,
): (number | null)[] {
  if (baseline === 'second-best') return lead(rewards, scored);
  if (baseline === 'leave-one-out') {
    let total = 0;
    for (const reward of scored) total += reward;
    const others = scored.length - 1;
    return rewards.map((reward) => (reward === null ? null : reward - (total - reward) / others));
  }
  const center = baseline === 'length-weighted-mean' ? weightedMean(rewards, lengths ?? []) : mean(scored);
  return rewards.map((reward) => (reward === null ? null : reward - center));
}

/** The best reward's lead over the second best, at the best, and 0 elsewhere. */
function lead(rewards: readonly (number | null)[], scored: readonly number[]): (number | null)[] {
  const [best, second] = scored.toSorted((a, b) => b - a) as [number, number];
  const at = rewards.indexOf(best);
  return rewards.map((_, g) => (g === at ? best - second : 0));
}

function weightedMean(rewards: readonly (number | null)[], lengths: readonly number[]): number {
  let sum = 0;
  let weight = 0;
  for (const [g, reward] of rewards.entries()) {
    if (reward === null) continue;
    sum += lengths[g]! * reward;
    weight += lengths[g]!;
  }
  return weight === 0 ? mean(scorable(rewards)) : sum / weight;
}

/**
 * Whether the scorable rewards of a group differ. A group without variance teaches nothing.
 *
 * @throws ArgumentError for a reward that is neither a finite number nor `null`.
 */
export function hasRewardVariance(rewards: readonly (number | null)[]): boolean {
  requireGroup('hasRewardVariance', 'rewards', rewards);
  const scored = scorable(rewards);
  return scored.some((reward) => reward !== scored[0]);
}

/** The divisor that all groups share, if `scale` is one of the batch. */
function batchDivisor(groups: GroupRewards, options: ResolvedGroupRelativeOptions): number | undefined {
  if (options.scale === 'batch-std') return stdDivisor(scorable(groups.flat()), options);
  if (options.scale !== 'nonzero-share') return undefined;
  const scored = scorable(groups.flat());
  return scored.length === 0 ? 1 : scored.filter((reward) => reward !== 0).length / scored.length;
}

function groupDivisor(scored: readonly number[], options: ResolvedGroupRelativeOptions): number {
  if (options.scale === 'group-std') return stdDivisor(scored, options);
  if (options.scale !== 'group-mean' || scored.length < 2) return 1;
  const center = mean(scored);
  return center <= options.epsilon && options.smallMean === 'zero' ? 0 : center + options.epsilon;
}

/** What centred rewards are divided by. A value alone has deviation 1. */
function stdDivisor(values: readonly number[], options: ResolvedGroupRelativeOptions): number {
  if (values.length < 2) return place(1, options);
  const center = mean(values);
  let squares = 0;
  for (const value of values) squares += (value - center) ** 2;
  return place(squares / (options.std === 'unbiased' ? values.length - 1 : values.length), options);
}

function place(variance: number, { epsilon, epsilonPlacement }: ResolvedGroupRelativeOptions): number {
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

/** @throws ArgumentError naming the first reward that is neither a finite number nor `null`. */
export function requireRewards(owner: string, groups: GroupRewards): void {
  requireArguments(owner, { groups: 'list' }, groups);
  for (const [p, rewards] of groups.entries()) requireGroup(owner, `groups[${p}]`, rewards);
}

function requireGroup(owner: string, name: string, rewards: readonly (number | null)[]): void {
  requireList(owner, name, rewards);
  const g = rewards.findIndex((reward) => reward !== null && !isUsable(reward));
  if (g < 0) return;
  throw new ArgumentError(
    `${owner}: ${name}[${g}] must be a finite number (at most 1e100 in size), or null if unscorable, ` +
      `got ${described(rewards[g])}`,
  );
}

function requireLengths(groups: GroupRewards, lengths: GroupLengths['lengths']): void {
  for (const [p, rewards] of groups.entries()) {
    const given = lengths?.[p];
    if (given?.length === rewards.length && given.every((length) => isUsable(length) && length >= 0))
      continue;
    throw new ArgumentError(
      `groupRelativeAdvantages: lengths[${p}] must have ${rewards.length} token counts, as groups[${p}], ` +
        `got ${given === undefined ? 'none' : JSON.stringify(given)}`,
    );
  }
}
