import { parseOptions } from '@rlp/core';
import * as z from 'zod';
import { hasRewardVariance } from '../advantage/group-relative.ts';
import type { GroupFilter } from './protocol.ts';
import { rewardsOf, sampledTokens } from './trajectory-rows.ts';

const rewardSchema = z.strictObject({ threshold: z.number().default(0.5) });

const diversitySchema = z.strictObject({ minimumShare: z.number().min(0).max(1).default(0.5) });

const lengthSchema = z
  .strictObject({ minimum: z.number().positive().default(10), maximum: z.number().positive().default(2048) })
  .refine(({ minimum, maximum }) => minimum <= maximum, {
    path: ['maximum'],
    message: 'must not be below minimum',
  });

/** Rewards that are not all equal: without variance, comparing within the group teaches nothing (DAPO, slime's default). */
function rewardVariance(): GroupFilter {
  return (group) => hasRewardVariance(rewardsOf(group));
}

/** At least one reward above `threshold` (0.5). @throws OptionsError */
function rewardAbove(options: z.input<typeof rewardSchema> = {}): GroupFilter {
  const { threshold } = parseOptions('groupFilters.rewardAbove', rewardSchema, options);
  return (group) => rewardsOf(group).some((reward) => reward !== null && reward > threshold);
}

/** Distinct answers, the texts of all steps compared, are at least `minimumShare` (0.5) of all. @throws OptionsError */
function diverseResponses(options: z.input<typeof diversitySchema> = {}): GroupFilter {
  const { minimumShare } = parseOptions('groupFilters.diverseResponses', diversitySchema, options);
  return ({ scored }) => {
    const texts = scored.map(({ trajectory }) => JSON.stringify(trajectory.steps.map(({ text }) => text)));
    return new Set(texts).size >= minimumShare * texts.length;
  };
}

/** The mean number of sampled tokens lies between `minimum` (10) and `maximum` (2048), both included. @throws OptionsError */
function meanLength(options: z.input<typeof lengthSchema> = {}): GroupFilter {
  const { minimum, maximum } = parseOptions('groupFilters.meanLength', lengthSchema, options);
  return ({ scored }) => {
    const mean = scored.reduce((sum, { trajectory }) => sum + sampledTokens(trajectory), 0) / scored.length;
    return mean >= minimum && mean <= maximum;
  };
}

/** At least one trajectory came to its own end: not all were cut, aborted or broke. */
function anyCompleted(): GroupFilter {
  return ({ scored }) => scored.some(({ trajectory }) => trajectory.status === 'completed');
}

/** Every one of the filters keeps the group. */
function all(...filters: readonly GroupFilter[]): GroupFilter {
  return (group) => filters.every((keeps) => keeps(group));
}

/**
 * Filters for `groupFilter`, which decides from which groups of trajectories to learn.
 *
 * Rejected groups are replaced by groups of further tasks. Trajectories that could not be scored have no reward to judge by.
 *
 * @example
 * new GRPOAlgorithm(dependencies, { groupFilter: groupFilters.all(groupFilters.rewardVariance(), groupFilters.diverseResponses()) });
 */
export const groupFilters = { rewardVariance, rewardAbove, diverseResponses, meanLength, anyCompleted, all };
