import type { Task, Trajectory } from '@rlp/core';
import {
  createDefaultMonitor,
  createMonitoredRewardFunctions,
  type MonitoredBatch,
} from '@rlp/quality-monitor';
import { rewardFunctions } from '@rlp/rewards';
import { exactAnswer } from '@rlp/rewards/stock';
import { expect, it } from 'vitest';

interface Metadata {
  readonly answer: string;
}
const task: Task<Metadata> = { id: 't', prompt: '2 + 2?', metadata: { answer: '4' } };
const trajectories = ['<answer>4</answer>', '<answer>5</answer>'].map(
  (response, at): Trajectory<Metadata> => ({
    id: `${at}`,
    task,
    steps: [],
    messages: [],
    response,
    status: 'completed',
    policyVersion: 0,
  }),
);
const group = { id: 'g', task, trajectories };
const exact = exactAnswer<Metadata>({ reference: ({ answer }) => answer });

it('monitors rewards of @rlp/rewards alone and combined, which score as before', async () => {
  const monitor = createDefaultMonitor({ console: 'off' });
  const batches: MonitoredBatch[] = [];
  monitor.monitorBatch = (batch) => void batches.push(batch) as never;
  const { functions, flush } = createMonitoredRewardFunctions(
    {
      exact,
      combined: rewardFunctions({ exact, length: ({ response }: Trajectory<Metadata>) => response.length }),
    },
    { monitor },
  );
  const { signal } = new AbortController();
  expect(await Promise.all(trajectories.map((one) => functions.exact(one, { signal })))).toEqual([1, 0]);
  const scored = await functions.combined(group);
  expect(scored.map(({ reward }) => reward)).toEqual([19, 18]);
  expect(await functions.combined.computeRewards(group)).toEqual(scored);
  expect(functions.combined.scaleWeight?.('length', 0)).toBe('scaled');
  expect((await functions.combined(group)).map(({ reward }) => reward)).toEqual([1, 0]);
  expect(functions.combined.getStatistics()).toHaveProperty('exact');
  flush();
  expect(batches[0]).toEqual({
    step: 6,
    responses: expect.arrayContaining(trajectories.map(({ response }) => response)),
    prompts: Array.from({ length: 6 }, () => '2 + 2?'),
    rewards: { exact: expect.arrayContaining([1, 0, null]), combined: [19, 18, 19, 18, 1, 0] },
  });
});
