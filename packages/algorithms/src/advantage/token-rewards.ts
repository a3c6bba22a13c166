import { ArgumentError, requireArguments } from '@rlp/core';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireFinite, requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';

/** What {@link tokenRewards} reads. */
export interface TokenRewardInputs {
  /** One score per sequence. Shape `[B]`. */
  readonly scores: ArrayLike<number>;
  /** 1 for tokens that the policy chose. Shape `[B][T]`. */
  readonly masks: TokenRows;
  /** Index of the token that gets the score. Defaults to the last that counts. Shape `[B]`. */
  readonly positions?: ArrayLike<number> | undefined;
}

/**
 * Rewards of tokens from scores of sequences, `r_t = score · [t = position]`. `klPenalizedRewards` takes a KL penalty off.
 *
 * A sequence without trained tokens and without a given position gets no score. Shape `[B][T]`.
 *
 * @throws ArgumentError for numbers that are not finite, arguments of different shapes or positions outside their rows.
 * @see Ouyang et al. 2022 (InstructGPT), §3.5, https://arxiv.org/abs/2203.02155
 */
export function tokenRewards(inputs: TokenRewardInputs): Float64Array[] {
  const { scores, masks, positions } = namedInputs(
    'tokenRewards',
    inputs,
    ['scores', 'masks'],
    ['positions'],
  );
  requireRows('tokenRewards', { masks });
  requireFinite('tokenRewards', 'scores', scores, masks.length);
  if (positions) requireFinite('tokenRewards', 'positions', positions, masks.length);
  const rewards = zeroRows(masks);
  for (let b = 0; b < rewards.length; b++) {
    const row = rewards[b]!;
    const position = positions?.[b] ?? lastCounted(masks[b]!);
    if (position === undefined) continue;
    if (!(position in row)) {
      throw new ArgumentError(
        `tokenRewards: positions[${b}] must be an index of a row of ${row.length} tokens, got ${position}`,
      );
    }
    row[position] = scores[b]!;
  }
  return rewards;
}

function lastCounted(mask: ArrayLike<number>): number | undefined {
  for (let t = mask.length - 1; t >= 0; t--) if (mask[t] !== 0) return t;
  return undefined;
}

/** A reward that a reward function gave to one turn. */
export interface TurnReward {
  /** Whichever way turns are told apart: an index, a name. */
  readonly turn: unknown;
  readonly reward: number;
}

/**
 * Rewards matched to the turns they are for: `null` for a turn without one, the last of several for the same turn.
 * Rewards for turns that are not there, and turns that are `null`, match nothing. Shape as `turns`, `[S]`.
 */
export function alignedTurnRewards(
  turns: readonly unknown[],
  rewards: readonly TurnReward[],
): (number | null)[] {
  requireArguments('alignedTurnRewards', { turns: 'list', rewards: 'objects' }, turns, rewards);
  const byTurn = new Map(rewards.map(({ turn, reward }) => [turn, reward]));
  return turns.map((turn) => (turn === null ? null : (byTurn.get(turn) ?? null)));
}
