import type { GroupJob, RolloutPool, Task, Trajectory, TrajectoryGroup } from '@rlp/core';
import { expect, it } from 'vitest';
import { type PooledRolloutsOptions, pooledRollouts } from './pooled-rollouts.ts';

const tasks = ['a', 'b'].map((id): Task => ({ id, prompt: id, metadata: undefined }));

/** Groups of a pool that cannot do the task a. */
async function collect(
  onFailure: PooledRolloutsOptions['onFailure'],
  read?: (group: TrajectoryGroup) => void,
) {
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
    for await (const group of rollouts.collectGroups(tasks)) {
      const { id, trajectories } = group;
      groups.push(`${id}: ${trajectories.map(({ status }) => status)}`);
      read?.(group);
    }
  } catch (error) {
    expect(error).toBe(lost);
    groups.push('thrown');
  }
  expect(rollouts.lastError).toBe(lost);
  return groups;
}

it('checks the options of a collection when it is called, and counts collections as a manager does', async () => {
  const pool: RolloutPool = {
    workers: 1,
    run: async ({ task, groupId }) => ({
      id: groupId,
      task,
      trajectories: [{ status: 'completed' }] as never,
    }),
    close: async () => undefined,
  };
  const rollouts = pooledRollouts(pool);
  expect(() => rollouts.collectGroups(tasks, { onGroups: 1 } as never)).toThrow('did you mean onGroup?');
  expect(() => rollouts.collectGroups('a' as never)).toThrow(
    'collectGroups: expected a list of tasks, got "a"',
  );
  const names: string[] = [];
  for (const _ of ['first', 'second']) {
    for await (const { id } of rollouts.collectGroups(tasks)) names.push(id);
  }
  expect(names).toEqual(['0/a', '0/b', '1/a', '1/b']);
});

it.each([
  ['keep', ['0/a: failed,failed', '0/b: completed']],
  ['drop-member', ['0/b: completed']],
  ['drop-group', ['0/b: completed']],
  ['stop', ['thrown']],
] as const)('a job that no worker could do, with onFailure %s: %s', async (onFailure, expected) => {
  expect(await collect(onFailure)).toEqual(expected);
});

it('says of each trajectory of such a job where it belongs and what failed', async () => {
  const groups: TrajectoryGroup[] = [];
  await collect('keep', (group) => groups.push(group));
  expect(groups[0]!.trajectories).toEqual(
    [0, 1].map((member) => ({
      ...{ id: `0/a/${member}`, task: tasks[0], group: { id: '0/a', member } },
      ...{ steps: [], messages: [], response: '', status: 'failed', policyVersion: 0 },
      termination: { reason: 'error', detail: 'no worker is left' },
      failure: { boundary: 'environment', message: 'no worker is left' },
    })),
  );
});

it('gives the workers the trajectories to continue from', async () => {
  const jobs: GroupJob[] = [];
  const pool: RolloutPool = {
    workers: 1,
    run: async (job) => {
      jobs.push(job);
      return { id: job.groupId, task: job.task, trajectories: [] };
    },
    close: async () => undefined,
  };
  const rollouts = pooledRollouts(pool, { groupSize: 2 });
  const carried = [0, 1].map(
    (member) =>
      ({
        ...{ id: `0/a/${member}`, task: tasks[0]!, group: { id: '0/a', member } },
        ...{ steps: [], messages: [], response: '', status: 'pending', policyVersion: 0 },
      }) as Trajectory,
  );
  for await (const _ of rollouts.collectGroups(tasks, { iteration: 0, unfinished: carried }));
  expect(jobs.map(({ unfinished }) => unfinished)).toEqual([carried, undefined]);
});
