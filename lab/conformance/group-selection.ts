import { type GroupFilter, groupFilters, type ScoredGroup } from '@rlp/algorithms';
import type { AdapterTable, FixtureCase } from './fixture.ts';

/** Samples as trajectories of one step. */
function groupOf({ rewards, responses, lengths, statuses }: FixtureCase['inputs']): ScoredGroup {
  const task = { id: 'task', prompt: '', metadata: undefined };
  const scored = rewards.map((reward: number, member: number) => {
    const tokens = Array.from({ length: lengths[member] }, () => 0);
    const text = responses[member];
    const step = { promptTokens: [], tokens, behaviorLogprobs: tokens, text, stopReason: 'stop' };
    const trajectory = { id: String(member), task, steps: [step], messages: [], response: text };
    return {
      trajectory: { ...trajectory, status: statuses[member], policyVersion: 0 },
      reward,
      components: {},
    };
  });
  const trajectories = scored.map(({ trajectory }: ScoredGroup['scored'][number]) => trajectory);
  return { group: { id: 'group', task, trajectories }, scored };
}

export const groupSelection: AdapterTable = {
  group_filters_rollouts: {
    filters: ({ inputs, params }) => {
      const group = groupOf(inputs);
      const keeps = (filter: GroupFilter) => filter(group);
      const { rewardVariance, rewardAbove, diverseResponses, meanLength, anyCompleted, all } = groupFilters;
      const diverse = diverseResponses({ minimumShare: params.min_unique_ratio });
      const deviates = keeps(rewardVariance());
      return {
        // The deviation of a single reward is NaN there, which is not above 0 and has no JSON.
        nonzero_std: inputs.rewards.length === 1 && !deviates ? null : deviates,
        min_reward: keeps(rewardAbove({ threshold: params.min_reward })),
        diversity: keeps(diverse),
        length: keeps(meanLength({ minimum: params.min_tokens, maximum: params.max_tokens })),
        any_success: keeps(anyCompleted()),
        quality_and_diversity: keeps(all(rewardVariance(), diverseResponses({ minimumShare: 0.5 }))),
      };
    },
  },
};
