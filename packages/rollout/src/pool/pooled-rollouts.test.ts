import type { GroupJob, RolloutPool, Task, Trajectory, TrajectoryGroup } from '@rlp/core';
import { describe, expect, it } from 'vitest';
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

describe('jobs of a pool', () => {
  const completed = { status: 'completed' } as Trajectory;
  /** A pool that notes its jobs, and makes of each what `make` makes of it. */
  function noting(
    make: (job: GroupJob) => Promise<readonly Trajectory[]> = async () => [completed],
    workers = 1,
  ) {
    const jobs: GroupJob[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const pool: RolloutPool = {
      workers,
      run: async (job, { signal } = {}) => {
        jobs.push(job);
        signals.push(signal);
        return { id: job.groupId, task: job.task, trajectories: await make(job) };
      },
      close: async () => undefined,
    };
    return { pool, jobs, signals };
  }
  const all = async (groups: AsyncIterable<TrajectoryGroup>) => {
    const ids: string[] = [];
    for await (const { id } of groups) ids.push(id);
    return ids;
  };

  it('are named by run, group and weights, and bring the weights and the options', async () => {
    const { pool, jobs } = noting();
    const rollouts = pooledRollouts(pool, { run: 'mine', groupSize: 2, accepts: ['adapter'] });
    expect(rollouts).toMatchObject({
      accepts: ['adapter'],
      tellsEarly: true,
      options: { groupSize: 2, maxTurns: 16 },
    });
    await all(rollouts.collectGroups([tasks[0]!], { iteration: 4, round: 2 }));
    const publication = { kind: 'adapter', version: 7, path: '/w' } as const;
    await rollouts.updateWeights(publication);
    await all(rollouts.collectGroups([tasks[0]!, tasks[0]!], { iteration: 5 }));
    expect(jobs.map(({ name, groupId }) => [name, groupId])).toEqual([
      ['mine/4.2/a@first', '4.2/a'],
      ['mine/5/a@7', '5/a'],
      ['mine/5/a#1@7', '5/a#1'],
    ]);
    expect(jobs[0]).not.toHaveProperty('publication');
    expect(jobs[0]).not.toHaveProperty('unfinished');
    expect(jobs[1]).toMatchObject({ task: tasks[0], publication, options: rollouts.options });
    expect(rollouts.options).not.toHaveProperty('run');
  });

  it('are told of as they end, groups without a trajectory only to nobody', async () => {
    const { pool } = noting(async ({ task }) =>
      task.id === 'a' ? [] : [completed, { ...completed, id: 'x' }],
    );
    const told: string[] = [];
    const groups = pooledRollouts(pool).collectGroups(tasks, {
      onEnded: ({ id }) => void told.push(`ended ${id}`),
      onGroup: ({ id }) => void told.push(`group ${id}`),
    });
    expect(await all(groups)).toEqual(['0/b']);
    expect(told).toEqual(['ended undefined', 'ended x', 'group 0/b']);
  });

  it.each([
    [1, 64, 4],
    [2, 64, 8],
    [2, 3, 3],
  ])(
    'of %d workers and a concurrency of %d: at most %d are sent at once',
    async (workers, concurrency, most) => {
      let [now, peak] = [0, 0];
      const { pool } = noting(async () => {
        now += 1;
        peak = Math.max(peak, now);
        await new Promise((resolve) => setTimeout(resolve, 1));
        now -= 1;
        return [completed];
      }, workers);
      const many = Array.from(
        { length: 20 },
        (_, at): Task => ({ id: `${at}`, prompt: '', metadata: undefined }),
      );
      expect(await all(pooledRollouts(pool, { concurrency }).collectGroups(many))).toHaveLength(20);
      expect(peak).toBe(most);
    },
  );

  it('end when the consumer leaves, or the signal fires, without an error', async () => {
    const { pool, signals } = noting(async ({ task }) =>
      task.id === 'a' ? [completed] : new Promise(() => undefined),
    );
    const rollouts = pooledRollouts(pool);
    for await (const _ of rollouts.collectGroups(tasks)) break;
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
    const controller = new AbortController();
    const stopped = noting(async () => {
      controller.abort(new Error('enough'));
      throw new Error('stopped');
    });
    const own = pooledRollouts(stopped.pool, { onFailure: 'stop', concurrency: 1 });
    expect(await all(own.collectGroups(tasks, { signal: controller.signal }))).toEqual([]);
    expect([stopped.jobs.length, own.lastError, own.takeNotes()]).toEqual([1, undefined, []]);
  });

  it('that fail are noted, with the version of their weights', async () => {
    const { pool } = noting(async () => {
      throw new Error('no worker');
    });
    const rollouts = pooledRollouts(pool, { groupSize: 1 });
    await rollouts.updateWeights({ kind: 'checkpoint', version: 3, path: '/w' });
    for await (const { trajectories } of rollouts.collectGroups([tasks[0]!]))
      expect(trajectories).toMatchObject([{ id: '0/a/0', policyVersion: 3, status: 'failed' }]);
    expect([rollouts.takeNotes(), rollouts.takeNotes()]).toEqual([['no worker'], []]);
  });
});
