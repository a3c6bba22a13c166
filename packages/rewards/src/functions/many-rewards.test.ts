import type { TrajectoryGroup } from '@rlp/core';
import { expect, it, onTestFinished } from 'vitest';
import { rewardFunctions } from '../index.ts';

it('judges a thousand trajectories at once under one signal without a warning', async () => {
  const warnings: Error[] = [];
  const collect = (warning: Error) => void warnings.push(warning);
  process.on('warning', collect);
  onTestFinished(() => void process.off('warning', collect));
  const rewards = rewardFunctions({
    slow: { reward: () => new Promise<number>((resolve) => setTimeout(() => resolve(1), 5)) },
  });
  const task = { id: 'a', prompt: '', metadata: undefined };
  const group: TrajectoryGroup = {
    id: '0/a',
    task,
    trajectories: Array.from({ length: 1000 }, (_, member) => ({
      id: `0/a/${member}`,
      task,
      steps: [],
      messages: [],
      response: '',
      status: 'completed',
      policyVersion: 0,
    })),
  };
  const { signal } = new AbortController();
  const scored = await rewards.computeRewards(group, { signal });
  expect(scored.every(({ reward }) => reward === 1)).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});
