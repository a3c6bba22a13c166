import * as z from 'zod';

const name = z.string().min(1);

/** Schema of {@link RewardHackingOptions}. */
export const rewardHackingOptions = z.strictObject({
  /**
   * Components that say how good a response is, apart from the reward: a held-out grader, a second judge, a verifier, sampled human
   * labels, or a component that you trust. `null` where there is no label. Default: agreement within groups of one task.
   */
  secondOpinion: z.union([name, z.array(name).min(1)]).optional(),
  /** Traits and reward components that may change freely, such as `length` or `format`. Default none. */
  intended: z.array(name).default([]),
  /** Upper bound on false suspicions per clean batch, all traits together. Default 0.001. */
  falseAlarmRate: z.number().gt(0).lt(1).default(1e-3),
  /** Rewarded responses, of at least four batches, before anything is judged. Default 48. */
  warmUpResponses: z.int().min(16).default(48),
  /** Batches before one joins the quick reference. Default 8. */
  delayBatches: z.int().min(1).default(8),
  /** Responses that the quick reference remembers, approximately. Default 1000. */
  memoryResponses: z.int().min(64).default(1000),
  /** Rewarded responses of the start of the run that the slow reference keeps. Default 400. */
  anchorResponses: z.int().min(64).default(400),
  /** Batches before a lasting alarm is reported again. Default 50. */
  repeatEvery: z.int().min(1).default(50),
  /** `'drop'` asks the loop to leave out the suspect responses during an alarm. Default `'report'`. */
  whenSuspected: z.enum(['report', 'drop']).default('report'),
});

/** Options of `rewardHackingDetector`. */
export interface RewardHackingOptions extends z.input<typeof rewardHackingOptions> {}

/** {@link RewardHackingOptions} with defaults. */
export type ResolvedRewardHackingOptions = z.output<typeof rewardHackingOptions>;
