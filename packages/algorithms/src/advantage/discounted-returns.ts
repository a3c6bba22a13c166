import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';

const schema = z.strictObject({
  discount: z.number().min(0).max(1).default(1),
  maskedTokens: z.enum(['skip', 'zero', 'through', 'reset']).default('skip'),
  outside: z.enum(['zero', 'recursion']).default('zero'),
});

/**
 * Options of {@link discountedReturns}.
 *
 * - `discount` (1): γ in [0, 1]. Completions are short and their reward comes last: a discount would only teach brevity.
 * - `maskedTokens` (`'skip'`): what a token outside the mask does to those before it.
 *   `'skip'`: nothing, it takes no time. `'zero'`: earns nothing but takes time, a factor γ (OpenRLHF).
 *   `'through'`: the mask plays no part (slime). `'reset'`: returns before it do not see past it (SkyRL's
 *   REINFORCE++, and verl's before 0.9.1).
 * - `outside` (`'zero'`): what tokens outside the mask get; `'recursion'` is what passed through them.
 */
export type DiscountedReturnOptions = z.input<typeof schema>;

/** What {@link discountedReturns} reads. */
export interface DiscountedReturnInputs {
  /** Reward of every token. Shape: `[B][T]`. */
  readonly rewards: TokenRows;
  /** 1 for tokens that the policy chose. Default: all. Shape: `[B][T]`. */
  readonly masks?: TokenRows | undefined;
}

/**
 * Discounted sum of the rewards from each token on (reward-to-go).
 *
 *     G_t = r_t + γ G_{t+1},   G_T = 0
 *
 * Shape: as `rewards`, `[B][T]`.
 *
 * @throws ArgumentError for rewards that are not finite or masks of another shape, OptionsError for wrong options.
 * @see Sutton & Barto 2018, §3.3, http://incompleteideas.net/book/the-book-2nd.html
 */
export function discountedReturns(
  { rewards, masks }: DiscountedReturnInputs,
  options: DiscountedReturnOptions = {},
): Float64Array[] {
  const resolved = parseOptions('discountedReturns', schema, options);
  requireRows('discountedReturns', { rewards, masks });
  const returns = zeroRows(rewards);
  for (let b = 0; b < returns.length; b++) returnsOfRow(returns[b]!, rewards[b]!, masks?.[b], resolved);
  return returns;
}

function returnsOfRow(
  to: Float64Array,
  rewards: ArrayLike<number>,
  mask: ArrayLike<number> | undefined,
  { discount, maskedTokens, outside }: z.output<typeof schema>,
): void {
  let next = 0;
  for (let t = to.length - 1; t >= 0; t--) {
    const counts = mask === undefined || mask[t] !== 0;
    if (counts || maskedTokens === 'through' || maskedTokens === 'reset')
      next = rewards[t]! + discount * next;
    else if (maskedTokens === 'zero') next *= discount;
    to[t] = counts || outside === 'recursion' ? next : 0;
    if (!counts && maskedTokens === 'reset') next = 0;
  }
}
