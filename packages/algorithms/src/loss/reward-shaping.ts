import { ArgumentError, requireArguments, requireFields } from '@rlp/core';
import { namedInputs } from '../statistics/named-inputs.ts';
import { requireFinite, requireRows, type TokenRows, zeroRows } from '../statistics/token-rows.ts';

/** What {@link klPenalizedRewards} reads. The shape of each is `[B][T]`. */
export interface KlRewardInputs {
  /** Reward of every token. Outcome rewards stand at the last one, see `tokenRewards`. */
  readonly rewards: TokenRows;
  /** Of the policy to its reference, per token, in nats. See `klEstimate`. */
  readonly kl: TokenRows;
  /** 1 where a token counts. */
  readonly masks: TokenRows;
}

/**
 * KL in the reward, `r_t − β · KL_t` on tokens that count, `r_t` elsewhere. The policy gradient then sees the KL through the
 * advantages, and its estimator is `k1` in most projects. In the loss it is `policyLoss`'s `klCoefficient`.
 *
 * @param options - `coefficient` is β. Below 0 it counts as 0 (OpenRLHF).
 * @throws ArgumentError for mismatched shapes or numbers that are not finite.
 * @see Ziegler et al. 2019, §2.1, https://arxiv.org/abs/1909.08593
 */
export function klPenalizedRewards(
  inputs: KlRewardInputs,
  options: { readonly coefficient: number },
): Float64Array[] {
  const { rewards, kl, masks } = namedInputs('klPenalizedRewards', inputs, ['rewards', 'kl', 'masks']);
  requireRows('klPenalizedRewards', { rewards, kl, masks });
  const { coefficient } = requireFields('klPenalizedRewards', { coefficient: 'number' }, options);
  requireFinite('klPenalizedRewards', 'coefficient', [coefficient]);
  const penalty = Math.max(0, coefficient);
  const result = zeroRows(rewards);
  for (let row = 0; row < rewards.length; row++) {
    for (let t = 0; t < rewards[row]!.length; t++) {
      const counts = masks[row]![t] !== 0;
      result[row]![t] = counts ? rewards[row]![t]! - penalty * kl[row]![t]! : rewards[row]![t]!;
    }
  }
  return result;
}

/**
 * Overlong filtering: masks with every token of sequences that a limit cut off set to 0, so that nobody learns from
 * responses without an end.
 *
 * @param masks - Shape `[B][T]`.
 * @param statuses - Of each sequence's trajectory. Shape `[B]`.
 * @throws ArgumentError when there are not as many statuses as masks.
 * @see Yu et al. 2025 (DAPO), §3.4, https://arxiv.org/abs/2503.14476
 */
export function overlongMasks(masks: TokenRows, statuses: readonly string[]): Float64Array[] {
  requireRows('overlongMasks', { masks });
  requireArguments('overlongMasks', { statuses: 'texts' }, statuses);
  if (statuses.length !== masks.length) {
    throw new ArgumentError(
      `overlongMasks: statuses must have ${masks.length} entries, one per row of masks, got ${statuses.length}`,
    );
  }
  const result = zeroRows(masks);
  for (const [row, mask] of masks.entries()) if (statuses[row] !== 'truncated') result[row]!.set(mask);
  return result;
}
