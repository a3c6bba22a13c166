import { expect, it } from 'vitest';
import { callableRewards, type RewardComputer } from './reward.ts';
import type { TrajectoryGroup } from './trajectory.ts';

it('makes a computer callable: the call is the method, with what else the computer has', async () => {
  const asked: unknown[] = [];
  const computer = {
    computeRewards: async (...given: unknown[]) => {
      asked.push(given);
      return [];
    },
    getStatistics: () => 7,
  } satisfies RewardComputer & { getStatistics: () => number };
  const rewards = callableRewards(computer);
  const [group, options] = [{ id: 'g' } as TrajectoryGroup, { signal: new AbortController().signal }];
  expect(await rewards(group, options)).toEqual([]);
  expect(await rewards.computeRewards(group)).toEqual([]);
  expect(asked).toEqual([[group, options], [group]]);
  expect(rewards.getStatistics()).toBe(7);
});
