import type { WhiteningOptions } from '../statistics/whitened.ts';
import type { DiscountedReturnOptions } from './discounted-returns.ts';
import type { GaeOptions } from './gae.ts';
import type { GigpoOptions } from './gigpo.ts';
import type { GroupRelativeOptions } from './group-relative.ts';

/** How one project reads the estimators. What it does not have is absent. */
export interface AdvantagePreset {
  /** GRPO, for `groupRelativeAdvantages`. */
  readonly grpo?: GroupRelativeOptions;
  /** RLOO, for `groupRelativeAdvantages`. */
  readonly rloo?: GroupRelativeOptions;
  /** MaxRL, for `groupRelativeAdvantages`. */
  readonly maxrl?: GroupRelativeOptions;
  /** For `gae`. */
  readonly gae?: GaeOptions;
  /** For `discountedReturns`. */
  readonly returns?: DiscountedReturnOptions;
  /** For `whitened`. */
  readonly whitening?: WhiteningOptions;
  /** For `gigpoAdvantages`. */
  readonly gigpo?: GigpoOptions;
}

/**
 * Option values that give each project's numbers, read from its code and compared with what that code computes.
 *
 * `rlp` is our default:
 *
 * - It scales GRPO by the unbiased deviation plus 1e-6, as most projects do.
 * - A completion alone in its group gets 0.
 * - GAE and returns skip masked tokens, so that a tool's answer cannot influence what is learned.
 * - It whitens as TRL does and sets masked tokens to 0.
 */
export const advantagePresets = {
  rlp: { grpo: {}, rloo: { baseline: 'leave-one-out', scale: 'none' }, gae: {}, returns: {}, whitening: {} },
  verl: {
    grpo: { singleMember: 'raw' },
    rloo: { baseline: 'leave-one-out', scale: 'none', singleMember: 'raw' },
    gae: { maskedTokens: 'skip', outside: 'recursion' },
    returns: { maskedTokens: 'reset', outside: 'recursion' },
    whitening: { countEpsilon: 1e-8, outside: 'same-map' },
  },
  'verl-vectorized': {
    grpo: { epsilonPlacement: 'variance-floor', singleMember: 'raw' },
    rloo: { baseline: 'leave-one-out', scale: 'none' },
  },
  'verl-agent': {
    gigpo: { scale: 'none', episodeStatistics: 'step-rows', joint: 'sum' },
  },
  trl: {
    grpo: { epsilon: 1e-4 },
    rloo: { baseline: 'leave-one-out', scale: 'none', epsilon: 1e-4 },
    gae: { maskedTokens: 'zero', outside: 'recursion' },
    whitening: { outside: 'same-map' },
  },
  skyrl: {
    grpo: { singleMember: 'raw' },
    rloo: { baseline: 'leave-one-out', scale: 'none' },
    maxrl: { scale: 'group-mean', singleMember: 'raw', smallMean: 'divide' },
    gae: { maskedTokens: 'through', outside: 'recursion' },
    returns: { maskedTokens: 'reset', outside: 'recursion' },
    whitening: { outside: 'same-map' },
  },
  slime: {
    grpo: {},
    gae: { maskedTokens: 'through', outside: 'recursion' },
    returns: { maskedTokens: 'through', outside: 'recursion' },
  },
  openrlhf: {
    grpo: { epsilon: 1e-9 },
    rloo: { baseline: 'leave-one-out', scale: 'none' },
    gae: { maskedTokens: 'zero' },
    returns: { maskedTokens: 'zero' },
    whitening: { divisor: 'population', epsilonPlacement: 'variance-floor' },
  },
  'open-instruct': { gae: { maskedTokens: 'end', outside: 'recursion' } },
  areal: {
    whitening: { divisor: 'population', epsilon: 1e-5, epsilonPlacement: 'added', outside: 'map-of-zero' },
  },
  art: { grpo: { std: 'population' } },
  rollouts: { grpo: { epsilonPlacement: 'threshold' } },
  textpolicy: { grpo: { scale: 'none' }, maxrl: { scale: 'group-mean' } },
  tinker: { grpo: { scale: 'none' } },
} as const satisfies Readonly<Record<string, AdvantagePreset>>;
