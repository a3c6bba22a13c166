import type { RolloutPool, Task } from '@rlp/core';
import { expect, it } from 'vitest';
import { type PooledRolloutsOptions, pooledRollouts } from './pooled-rollouts.ts';

const tasks = ['a', 'b'].map((id): Task => ({ id, prompt: id, metadata: undefined }));

/** Groups of a pool that cannot do the task a. */
async function collect(onFailure: PooledRolloutsOptions['onFailure']) {
  const lost = new Error('no worker is left');
  const pool: RolloutPool = {
    workers: 1,
    run: async ({ task, groupId }) => {
      if (task.id === 'a') throw lost;
      return { id: groupId, task, trajectories: [{ status: 'completed' }] as never };
    },
    close: async () => undefined,
  };
  const rollouts = pooledRollouts(pool, { groupSize: 2, onFailure });
  const groups: string[] = [];
  try {
    for await (const { id, trajectories } of rollouts.collectGroups(tasks))
      groups.push(`${id}: ${trajectories.map(({ status }) => status)}`);
  } catch (error) {
    expect(error).toBe(lost);
    groups.push('thrown');
  }
  expect(rollouts.lastError).toBe(lost);
  return groups;
}

it.each([
  ['keep', ['0/a: failed,failed', '0/b: completed']],
  ['drop-member', ['0/b: completed']],
  ['drop-group', ['0/b: completed']],
  ['stop', ['thrown']],
] as const)('a job that no worker could do, with onFailure %s: %s', async (onFailure, expected) => {
  expect(await collect(onFailure)).toEqual(expected);
});
