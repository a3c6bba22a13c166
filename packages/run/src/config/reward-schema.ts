import type { RewardComputer, RewardFunction, RewardsFor } from '@rlp/core';
import * as z from 'zod';

const functionSchema = z.custom<RewardFunction>(
  (value) => typeof value === 'function',
  'expected the name of a reward, or a function',
);

const describedSchema = z.strictObject({
  /** Name of a stock reward, such as `mathAnswer` or `tagFormat`. Give either it or `reward`. */
  name: z.string().min(1).optional(),
  /** Your own reward. */
  reward: functionSchema.optional(),
  /** Factor in the sum. 0 observes only. Default 1. */
  weight: z.number().default(1),
  /** Parameters of a stock reward, such as `tags`. Default `{}`. */
  params: z.record(z.string(), z.unknown()).default({}),
});

/** One component of a reward. */
export interface DescribedReward<Metadata = unknown, Outcome = unknown>
  extends Omit<z.input<typeof describedSchema>, 'reward'> {
  /** Your own reward. */
  readonly reward?: RewardFunction<Metadata, Outcome> | undefined;
}

/** Rewards of a run: names, descriptions or functions by component; one function; or a computer. */
export type RunRewards<Metadata = unknown, Outcome = unknown> =
  | Readonly<Record<string, string | DescribedReward<Metadata, Outcome> | RewardFunction<Metadata, Outcome>>>
  | RewardFunction<Metadata, Outcome>
  | RewardsFor<Metadata, Outcome>;

/** Schema of the rewards of a run: names, descriptions or functions by component; one function; or a computer. */
export const rewardsSchema = z.union([
  z
    .record(z.string().min(1), z.union([z.string().min(1), describedSchema, functionSchema]))
    .refine((parts) => Object.keys(parts).length > 0, 'expected at least one reward'),
  z.custom<RewardFunction | RewardComputer>(
    (value) =>
      typeof value === 'function' ||
      typeof (value as RewardComputer | null | undefined)?.computeRewards === 'function',
    'expected rewards by name, a function, or what rewardFunctions returns',
  ),
]);
