import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireFinite, requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';

/** Schema of {@link GaeOptions}. */
export const gaeSchema = z.strictObject({
  /** Discount γ, 0 to 1. Default 1. */
  discount: z.number().min(0).max(1).default(1),
  /** 0 trusts the critic (one-step TD error), 1 trusts the rewards (Monte Carlo). Default 0.95. */
  lambda: z.number().min(0).max(1).default(0.95),
  /**
   * What a token outside the mask does to those before it. `'skip'`: nothing (verl). `'zero'`: takes a time step with
   * reward and value 0 (OpenRLHF, TRL). `'through'`: ignores the mask (SkyRL, slime, SB3). `'end'`: the recursion starts anew
   * at it (open-instruct, packed), so no reward after it counts. The token before it still bootstraps from the masked token's
   * value V. Default `'skip'`.
   */
  maskedTokens: z.enum(['skip', 'zero', 'through', 'end']).default('skip'),
  /** Tokens outside the mask get 0, or what passed through them (`'recursion'`). Default `'zero'`. */
  outside: z.enum(['zero', 'recursion']).default('zero'),
});

/** Options of {@link gae}. */
export interface GaeOptions extends z.input<typeof gaeSchema> {}

/** What {@link gae} reads. */
export interface GaeInputs {
  /** `r_t`. Shape `[B][T]`. */
  readonly rewards: TokenRows;
  /** `V(s_t)`, the critic's value before token t. Shape `[B][T]`. */
  readonly values: TokenRows;
  /** 1 for tokens that the policy chose. Defaults to all. Shape `[B][T]`. */
  readonly masks?: TokenRows | undefined;
  /** 1 where an episode ends with token t, so that what follows is another one's. Default none. Shape `[B][T]`. */
  readonly ends?: TokenRows | undefined;
  /**
   * Value of the state after token t, read where `ends` is 1: 0 if the world ended (terminated), the critic's value if
   * a limit cut it (truncated). Default 0. Shape `[B][T]`.
   */
  readonly bootstrapValues?: TokenRows | undefined;
  /** Value of the state after a row's last token, read where `ends` is not 1 there. Default 0. Shape `[B]`. */
  readonly finalValues?: ArrayLike<number> | undefined;
}

/** Advantages, neither centred nor scaled, and the critic's targets. Each `[B][T]`. */
export interface GaeResult {
  readonly advantages: Float64Array[];
  /** `A_t + V(s_t)`. */
  readonly returns: Float64Array[];
}

/**
 * Generalized advantage estimation.
 *
 *     δ_t = r_t + γ V(s_{t+1}) − V(s_t)
 *     A_t = δ_t + γλ A_{t+1}
 *
 * @throws ArgumentError for numbers that are not finite or arguments of different shapes, OptionsError for wrong options.
 * @see Schulman et al. 2015, §3, https://arxiv.org/abs/1506.02438
 */
export function gae(inputs: GaeInputs, options: GaeOptions = {}): GaeResult {
  const resolved = parseOptions('gae', gaeSchema, options, 'GaeOptions');
  const known = ['masks', 'ends', 'bootstrapValues', 'finalValues'] as const;
  const { rewards, values, masks, ends, bootstrapValues, finalValues } = namedInputs(
    'gae',
    inputs,
    ['rewards', 'values'],
    known,
  );
  requireRows('gae', { rewards, values, masks, ends, bootstrapValues });
  if (finalValues) requireFinite('gae', 'finalValues', finalValues, rewards.length);
  const advantages = zeroRows(rewards);
  const returns = zeroRows(rewards);
  for (let b = 0; b < advantages.length; b++) {
    const row: Row = {
      rewards: rewards[b]!,
      values: values[b]!,
      mask: masks?.[b],
      ends: ends?.[b],
      bootstrapValues: bootstrapValues?.[b],
      finalValue: finalValues?.[b] ?? 0,
    };
    gaeOfRow(advantages[b]!, returns[b]!, row, resolved);
  }
  return { advantages, returns };
}

interface Row {
  readonly rewards: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  readonly mask: ArrayLike<number> | undefined;
  readonly ends: ArrayLike<number> | undefined;
  readonly bootstrapValues: ArrayLike<number> | undefined;
  readonly finalValue: number;
}

function gaeOfRow(
  advantages: Float64Array,
  returns: Float64Array,
  { rewards, values, mask, ends, bootstrapValues, finalValue }: Row,
  { discount, lambda, maskedTokens, outside }: z.output<typeof gaeSchema>,
): void {
  let nextValue = finalValue;
  let running = 0;
  for (let t = advantages.length - 1; t >= 0; t--) {
    const counts = mask === undefined || mask[t] !== 0;
    if (ends !== undefined && ends[t] !== 0) {
      nextValue = bootstrapValues?.[t] ?? 0;
      running = 0;
    } else if (!counts && maskedTokens === 'end') {
      nextValue = 0;
      running = 0;
    }
    const isZeroed = !counts && maskedTokens === 'zero';
    const value = isZeroed ? 0 : values[t]!;
    if (counts || maskedTokens !== 'skip') {
      const reward = isZeroed ? 0 : rewards[t]!;
      running = reward + discount * nextValue - value + discount * lambda * running;
      nextValue = value;
    }
    if (counts || outside === 'recursion') {
      advantages[t] = running;
      returns[t] = running + value;
    }
  }
}
