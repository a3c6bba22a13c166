import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';
import { type GaeResult, gae } from './gae.ts';

/** Schema of {@link BilevelGaeOptions}. */
export const bilevelGaeSchema = z.strictObject({
  /** Discount γ between the tokens of a turn. Default 1. */
  discount: z.number().min(0).max(1).default(1),
  /** Discount γ between turns. Below 1, fewer turns are worth more. Default 0.95. */
  turnDiscount: z.number().min(0).max(1).default(0.95),
  /** λ of both levels. Default 0.95. */
  lambda: z.number().min(0).max(1).default(0.95),
});

/** Options of {@link bilevelGae}. */
export interface BilevelGaeOptions extends z.input<typeof bilevelGaeSchema> {}

/** What {@link bilevelGae} reads. Each is `[B][T]`. */
export interface BilevelGaeInputs {
  readonly rewards: TokenRows;
  /** The critic's value before each token. */
  readonly values: TokenRows;
  /** 1 for tokens that the policy chose. */
  readonly masks: TokenRows;
  /** 1 on the last token of every turn, which carries the turn's reward. */
  readonly turnEnds: TokenRows;
}

/**
 * Bi-level GAE: over turns first, then over the tokens of each turn.
 *
 *     turns:   Â_k = GAE over (r, V) at turn ends, with γ_turn;   R_k = Â_k + V_k
 *     tokens:  GAE inside turn k with γ, whose only reward is R_k on its last token
 *
 * Credit crosses a turn at once instead of fading token by token. Tokens outside the mask are skipped and get 0, except a
 * turn end outside the mask, which keeps what the turn level gave it. Not whitened.
 *
 * @throws ArgumentError for numbers that are not finite or arguments of different shapes, OptionsError for wrong options.
 * @see Wang et al. 2025 (VAGEN), https://arxiv.org/abs/2510.16907
 */
export function bilevelGae(inputs: BilevelGaeInputs, options: BilevelGaeOptions = {}): GaeResult {
  const { discount, turnDiscount, lambda } = parseOptions(
    'bilevelGae',
    bilevelGaeSchema,
    options,
    'BilevelGaeOptions',
  );
  const needed = ['rewards', 'values', 'masks', 'turnEnds'] as const;
  const { rewards, values, masks, turnEnds } = namedInputs('bilevelGae', inputs, needed);
  requireRows('bilevelGae', { rewards, values, masks, turnEnds });
  const turns = gae({ rewards, values, masks: turnEnds }, { discount: turnDiscount, lambda });
  const turnRewards = zeroRows(rewards);
  for (let b = 0; b < turnRewards.length; b++) {
    const row = turnRewards[b]!;
    for (let t = 0; t < row.length; t++)
      row[t] = turnEnds[b]![t] === 0 ? rewards[b]![t]! : turns.returns[b]![t]!;
  }
  const tokens = gae({ rewards: turnRewards, values, masks, ends: turnEnds }, { discount, lambda });
  for (let b = 0; b < turnRewards.length; b++) {
    for (let t = 0; t < turnRewards[b]!.length; t++) {
      if (masks[b]![t] !== 0 || turnEnds[b]![t] === 0) continue;
      tokens.advantages[b]![t] = turns.advantages[b]![t]!;
      tokens.returns[b]![t] = turns.returns[b]![t]!;
    }
  }
  return tokens;
}
