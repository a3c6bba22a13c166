import { parseOptions } from '@rlp/core';
import * as z from 'zod';

const schema = z.strictObject({
  /** Component with a second score that the policy is not trained on, such as a held-out judge's. Default none. */
  heldOut: z.string().min(1).optional(),
  /** Component of a verifier, high if it accepts. A weight of 0 keeps it out of the reward. Default none. */
  verifier: z.string().min(1).optional(),
  /** Metric of the batch with the KL to the reference policy, in nats. Default `'kl/reference'`. */
  klMetric: z.string().min(1).default('kl/reference'),
  /** Upper bound on false alarms per clean batch, all signals together. Default 0.001. */
  falseAlarmRate: z.number().gt(0).lt(1).default(1e-3),
  /** Responses, of at least four batches, before anything is judged. Default 64. */
  warmUpResponses: z.int().min(16).default(64),
  /** Batches before one joins the reference. Default 8. */
  delayBatches: z.int().min(1).default(8),
  /** Responses that the reference remembers, approximately. Default 1000. */
  memoryResponses: z.int().min(64).default(1000),
  /** Batches before a lasting alarm is reported again. Default 10. */
  repeatEvery: z.int().min(1).default(10),
  /** `'drop'` asks the loop to leave out the suspect responses during an alarm. Default `'report'`. */
  whenSuspected: z.enum(['report', 'drop']).default('report'),
});

/** Options of `rewardHackingDetector`. */
export interface RewardHackingOptions extends z.input<typeof schema> {}

/** {@link RewardHackingOptions} with defaults. */
export type ResolvedRewardHackingOptions = z.output<typeof schema>;

/** Applies the defaults. @throws OptionsError naming every problem. */
export function resolveRewardHackingOptions(
  options: RewardHackingOptions = {},
): ResolvedRewardHackingOptions {
  return parseOptions('rewardHackingDetector', schema, options);
}
