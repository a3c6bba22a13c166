import { parseOptions } from '@rlp/core';
import * as z from 'zod';

const component = z.string().min(1).optional();

const schema = z.strictObject({
  heldOut: component,
  verifier: component,
  klMetric: z.string().min(1).default('kl/reference'),
  falseAlarmRate: z.number().gt(0).lt(1).default(1e-3),
  warmUpResponses: z.int().min(16).default(64),
  delayBatches: z.int().min(1).default(8),
  memoryResponses: z.int().min(64).default(1000),
  repeatEvery: z.int().min(1).default(10),
  whenSuspected: z.enum(['report', 'drop']).default('report'),
});

/**
 * Options of `rewardHackingDetector`.
 *
 * - `heldOut` (none): component with a second score that the policy is not trained on, such as a held-out judge's.
 * - `verifier` (none): component of a verifier, high where it accepts. Give either a weight of 0 to keep it out of the reward.
 * - `klMetric` (`'kl/reference'`): metric of the batch that holds the policy's KL to the reference policy, in nats.
 * - `falseAlarmRate` (0.001): false alarms per clean batch, at most, all signals together; see `docs/quality-monitor.md` for
 *   what it rests on.
 * - `warmUpResponses` (64): responses, of four batches or more, that the reference is made of before anything is judged by it.
 * - `delayBatches` (8): batches after which one joins the reference.
 * - `memoryResponses` (1000): responses that the reference remembers, about.
 * - `repeatEvery` (10): batches after which a finding that goes on is reported again.
 * - `whenSuspected` (`'report'`): `'drop'` asks the loop, while an alarm lasts, to leave out the rewarded responses that have
 *   the trait.
 */
export type RewardHackingOptions = z.input<typeof schema>;

/** {@link RewardHackingOptions} with every default filled in. */
export type ResolvedRewardHackingOptions = z.output<typeof schema>;

/** Applies the defaults. @throws OptionsError naming every problem at once. */
export function resolveRewardHackingOptions(
  options: RewardHackingOptions = {},
): ResolvedRewardHackingOptions {
  return parseOptions('rewardHackingDetector', schema, options);
}
