import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';

/** Schema of {@link DiscountedReturnOptions}. */
export const discountedReturnSchema = z.strictObject({
  /** Discount γ, 0 to 1. Below 1, short completions are worth more. Default 1. */
  discount: z.number().min(0).max(1).default(1),
  /**
   * What a token outside the mask does to those before it. `'skip'`: nothing. `'zero'`: takes a time step without reward
   * (OpenRLHF). `'through'`: ignores the mask (slime). `'reset'`: cuts the sum (SkyRL). Default `'skip'`.
   */
  maskedTokens: z.enum(['skip', 'zero', 'through', 'reset']).default('skip'),
  /** Tokens outside the mask get 0, or what passed through them (`'recursion'`). Default `'zero'`. */
  outside: z.enum(['zero', 'recursion']).default('zero'),
});

/** Options of {@link discountedReturns}. */
export interface DiscountedReturnOptions extends z.input<typeof discountedReturnSchema> {}

/** What {@link discountedReturns} reads. */
export interface DiscountedReturnInputs {
  /** Reward of every token. Shape `[B][T]`. */
  readonly rewards: TokenRows;
  /** 1 for tokens that the policy chose. Defaults to all. Shape `[B][T]`. */
  readonly masks?: TokenRows | undefined;
}

/**
 * Discounted sum of the rewards from each token on (reward-to-go).
 *
 *     G_t = r_t + γ G_{t+1},   G_T = 0
 *
 * Shape as `rewards`, `[B][T]`.
 *
 * @throws ArgumentError for rewards that are not finite or masks of another shape, OptionsError for wrong options.
 * @see Sutton & Barto 2018, §3.3, http://incompleteideas.net/book/the-book-2nd.html
 */
export function discountedReturns(
  inputs: DiscountedReturnInputs,
  options: DiscountedReturnOptions = {},
): Float64Array[] {
  const { rewards, masks } = namedInputs('discountedReturns', inputs, ['rewards'], ['masks']);
  const resolved = parseOptions(
    'discountedReturns',
    discountedReturnSchema,
    options,
    'DiscountedReturnOptions',
  );
  requireRows('discountedReturns', { rewards, masks });
  const returns = zeroRows(rewards);
  for (let b = 0; b < returns.length; b++) returnsOfRow(returns[b]!, rewards[b]!, masks?.[b], resolved);
  return returns;
}

function returnsOfRow(
  to: Float64Array,
  rewards: ArrayLike<number>,
  mask: ArrayLike<number> | undefined,
  { discount, maskedTokens, outside }: z.output<typeof discountedReturnSchema>,
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
