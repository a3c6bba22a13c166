import {
  ArgumentError,
  described,
  plural,
  type TokenSequence,
  type Trajectory,
  tokenSequences,
} from '@rlp/core';
import { hasRewardVariance } from '../advantage/group-relative.ts';
import type { TokenRows } from '../statistics/token-rows.ts';
import type { ResolvedRlOptions } from './options.ts';
import type { ScoredGroup, TokenOwner } from './protocol.ts';

/** The answered part of a sequence: from the first token that the policy chose up to and with the last. */
interface Part {
  /** Index into the iteration's sequences. */
  readonly sequence: number;
  readonly from: number;
  readonly to: number;
}

/** The sequences of an iteration, and how the trajectories' rows are laid out in them. */
export interface TrajectoryRows<Metadata = unknown> {
  readonly sequences: readonly TokenSequence[];
  readonly owners: readonly TokenOwner<Metadata>[];
  /** Parts of every row, in the order of time. Shape `[B][…]`. */
  readonly parts: readonly (readonly Part[])[];
}

/** Rewards of a group, `null` where a trajectory could not be scored. Shape `[G]`. */
export function rewardsOf({ scored }: ScoredGroup): (number | null)[] {
  return scored.map(({ reward }) => reward);
}

/** How many tokens the policy chose in a trajectory. */
export function sampledTokens({ steps }: Pick<Trajectory, 'steps'>): number {
  return steps.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/**
 * The training sequences of an iteration: those of every trajectory that was scored. Truncated ones are there with masks
 * of 0 under `truncatedTrajectories: 'mask'`.
 */
export function trajectoryRows<Metadata>(
  groups: readonly ScoredGroup<Metadata>[],
  { zeroVarianceGroups, truncatedTrajectories }: ResolvedRlOptions,
): TrajectoryRows<Metadata> {
  const sequences: TokenSequence[] = [];
  const owners: TokenOwner<Metadata>[] = [];
  const parts: Part[][] = [];
  for (const [group, scoredGroup] of groups.entries()) {
    if (zeroVarianceGroups === 'skip' && !hasRewardVariance(rewardsOf(scoredGroup))) continue;
    for (const [member, scored] of scoredGroup.scored.entries()) {
      if (scored.reward === null) continue;
      const isMasked = truncatedTrajectories === 'mask' && scored.trajectory.status === 'truncated';
      owners.push({ group, member, scored });
      parts.push([]);
      for (const sequence of tokenSequences(scored.trajectory.steps)) {
        const from = sequence.mask.indexOf(1);
        const to = sequence.mask.lastIndexOf(1) + 1;
        if (from >= 0) parts.at(-1)!.push({ sequence: sequences.length, from, to });
        sequences.push(isMasked ? { ...sequence, mask: new Uint8Array(sequence.mask.length) } : sequence);
      }
    }
  }
  return { sequences, owners, parts };
}

/** What stands on the tokens of each row, from what stands on those of each sequence. */
export function gatherRows({ parts }: TrajectoryRows, ofSequences: TokenRows): Float64Array[] {
  return parts.map((row) => {
    const gathered = new Float64Array(row.reduce((length, { from, to }) => length + to - from, 0));
    let at = 0;
    for (const { sequence, from, to } of row) {
      const values = ofSequences[sequence]!;
      for (let t = from; t < to; t++) gathered[at++] = values[t]!;
    }
    return gathered;
  });
}

/**
 * The way back: what stands on the tokens of each sequence, 0 outside its mask.
 *
 * @throws ArgumentError if rows have another shape, or a number that is trained on is not finite.
 */
export function scatterRows(
  name: string,
  { sequences, owners, parts }: TrajectoryRows,
  rows: TokenRows,
): Float64Array[] {
  if (rows?.length !== parts.length) {
    throw new ArgumentError(
      `${name}: expected ${parts.length} rows, one per trajectory of the batch, got ${rows?.length ?? described(rows)}`,
    );
  }
  const scattered = sequences.map(({ tokens }) => new Float64Array(tokens.length));
  for (const [b, row] of parts.entries()) {
    const values = rows[b]!;
    const { group, member } = owners[b]!;
    const length = row.reduce((sum, { from, to }) => sum + to - from, 0);
    if (values.length !== length) {
      throw new ArgumentError(
        `${name}: the row of member ${member} of group ${group} must hold ${plural(length, 'token')}, got ${values.length}`,
      );
    }
    let at = 0;
    for (const { sequence, from, to } of row) {
      for (let t = from; t < to; t++, at++) {
        if (sequences[sequence]!.mask[t] === 0) continue;
        if (!Number.isFinite(values[at])) {
          throw new ArgumentError(
            `${name}: a token of member ${member} of group ${group} must be finite, got ${String(values[at])}`,
          );
        }
        scattered[sequence]![t] = values[at]!;
      }
    }
  }
  return scattered;
}
