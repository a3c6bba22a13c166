import { EngineError, type GroupJob, TimeoutError, type TrajectoryGroup } from '@rlp/core';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BullRollouts } from './bull-rollouts.ts';
import { serveBullRollouts } from './bull-worker.ts';
import { fakeQueue } from './queue.fixture.ts';
import { bullRolloutsSchema } from './queue-options.ts';

const state: { queue: ReturnType<typeof fakeQueue> } = { queue: fakeQueue() };
// Another file of this worker may have loaded these modules with the real queue.
vi.hoisted(() => vi.resetModules());
vi.mock('./peers.ts', () => ({ queuePeers: async () => state.queue.peers }));
afterAll(() => vi.resetModules());

const url = 'redis://127.0.0.1:1';
const task = { id: 'a', prompt: 'Say it.', metadata: undefined };
const job: GroupJob = { name: 'run/0/a@first', groupId: '0/a', task, options: {} };
const group: TrajectoryGroup = { id: '0/a', task, trajectories: [] };
const completed = { state: 'completed', returnvalue: { group } } as const;

beforeEach(() => {
  vi.useFakeTimers();
  state.queue = fakeQueue();
});
afterEach(() => void vi.useRealTimers());

function open(options: object = {}) {
  const pool = new BullRollouts(bullRolloutsSchema.parse({ url, ...options }), state.queue.peers);
  return { pool, ...state.queue };
}
/** Lets everything go on that waits for no timer. */
const settle = () => vi.advanceTimersByTimeAsync(0);
const idOf = ({ jobs }: { readonly jobs: ReadonlyMap<string, unknown> }) => [...jobs.keys()][0]!;

describe('a pool on a queue', () => {
  it('sends a job with its tries, and returns the group once a worker has made it', async () => {
    const { pool, jobs, end } = open({ attempts: 5, backoffMs: 70, keepSeconds: 9 });
    const made = pool.run(job);
    await settle();
    expect(idOf({ jobs })).toMatch(/^[0-9a-f]{64}$/);
    expect(jobs.get(idOf({ jobs }))).toMatchObject({
      data: job,
      options: {
        ...{ attempts: 5, backoff: { type: 'exponential', delay: 70 } },
        ...{ removeOnComplete: { age: 9 }, removeOnFail: { age: 9 } },
      },
    });
    end(idOf({ jobs }), completed);
    expect(await made).toEqual(group);
    expect(vi.getTimerCount()).toBe(1); // the look every some seconds
    await pool.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('looks for the result itself, because events may be lost', async () => {
    const { pool, jobs, end } = open({ pollMs: 500 });
    const made = pool.run(job);
    await settle();
    end(idOf({ jobs }), completed, 'untold');
    await vi.advanceTimersByTimeAsync(499);
    const early = await Promise.race([made, 'waits']);
    await vi.advanceTimersByTimeAsync(1);
    expect([early, await made]).toEqual(['waits', group]);
  });

  it('sends a job again that the queue has forgotten', async () => {
    const { pool, jobs, added, end } = open({ pollMs: 500 });
    const made = pool.run(job);
    await settle();
    jobs.clear();
    await vi.advanceTimersByTimeAsync(500);
    expect(added).toHaveLength(2);
    end(idOf({ jobs }), completed);
    expect(await made).toEqual(group);
  });

  it('finds what was done before, and tries a job again that had failed', async () => {
    const { pool, jobs, removed, added, end } = open();
    const first = pool.run(job);
    await settle();
    end(idOf({ jobs }), { state: 'failed', failedReason: 'no GPU' });
    await expect(first).rejects.toThrow(new EngineError('group job run/0/a@first: no GPU'));
    const second = pool.run(job);
    await settle();
    expect([removed.length, added.length]).toEqual([1, 2]);
    end(idOf({ jobs }), completed);
    await second;
    expect(await pool.run(job)).toEqual(group);
    expect(removed).toHaveLength(1);
  });

  it('sends one job for all who wait for it, and takes it back when the last one leaves', async () => {
    const { pool, jobs, added, removed } = open();
    const [one, other] = [new AbortController(), new AbortController()];
    const both = [one, other].map(({ signal }) => pool.run(job, { signal }));
    await settle();
    const id = idOf({ jobs });
    expect(added).toEqual([id]);
    one.abort(new Error('first left'));
    await expect(both[0]).rejects.toThrow('first left');
    await settle();
    expect(removed).toEqual([]);
    other.abort(new Error('second left'));
    await expect(both[1]).rejects.toThrow('second left');
    await settle();
    expect(removed).toEqual([id]);
    await expect(pool.run(job, { signal: one.signal })).rejects.toThrow('first left');
  });

  it('leaves a job that a worker has begun', async () => {
    const { pool, jobs, removed } = open();
    const stop = new AbortController();
    const made = pool.run(job, { signal: stop.signal });
    await settle();
    jobs.get(idOf({ jobs }))!.state = 'active';
    stop.abort(new Error('left'));
    await expect(made).rejects.toThrow('left');
    await settle();
    expect(removed).toEqual([]);
  });

  it('hears of a job that failed, without a look of its own', async () => {
    const { pool, jobs, end } = open({ pollMs: 1_000_000 });
    const made = pool.run(job);
    await settle();
    const refused = expect(made).rejects.toThrow('group job run/0/a@first: no GPU');
    end(idOf({ jobs }), { state: 'failed', failedReason: 'no GPU' });
    await refused;
  });

  it('rejects with a result that cannot be read, and waits while Redis is away', async () => {
    const { pool, jobs, end } = open({ pollMs: 500 });
    const first = pool.run(job);
    await settle();
    const refused = expect(first).rejects.toThrow(
      'group job run/0/a@first: expected a group, got another result',
    );
    end(idOf({ jobs }), { state: 'completed', returnvalue: 7 });
    await refused;
    jobs.clear();
    const second = pool.run(job);
    await settle();
    const id = idOf({ jobs });
    const found = jobs.get.bind(jobs);
    jobs.get = () => {
      throw new Error('ECONNREFUSED');
    };
    await vi.advanceTimersByTimeAsync(500);
    jobs.get = found;
    end(id, completed);
    expect(await second).toEqual(group);
  });

  it('looks again for a job that went while it looked', async () => {
    const { pool, jobs, added } = open({ pollMs: 500 });
    const made = pool.run(job);
    await settle();
    const id = idOf({ jobs });
    const found = jobs.get.bind(jobs);
    let looks = 0;
    // The state is there, and a moment later the job is not.
    jobs.get = (key) => (++looks === 2 ? undefined : found(key));
    Object.assign(found(id)!, completed);
    await vi.advanceTimersByTimeAsync(500);
    expect([looks, added.length]).toEqual([2, 1]);
    await vi.advanceTimersByTimeAsync(500);
    expect(await made).toEqual(group);
  });

  it('sends a job no second time while it waits or runs', async () => {
    const { pool, jobs, added, end } = open({ pollMs: 500 });
    const made = pool.run(job);
    await settle();
    await vi.advanceTimersByTimeAsync(2000);
    jobs.get(idOf({ jobs }))!.state = 'active';
    await vi.advanceTimersByTimeAsync(2000);
    expect(added).toHaveLength(1);
    end(idOf({ jobs }), completed);
    await made;
  });

  it('is made of options that are checked', async () => {
    const { bullRollouts } = await import('./bull-rollouts.ts');
    const pool = await bullRollouts({ url, workers: 7 });
    expect(pool.workers).toBe(7);
    await pool.close();
    await expect(bullRollouts({ url: 'http://a' })).rejects.toThrow('bullRollouts: invalid options');
  });

  it('gives up at its deadline', async () => {
    const { pool } = open({ deadlineMs: 3000 });
    const late =
      'group job run/0/a@first: no group within 3000 ms; check that workers of the queue run, or raise `deadlineMs`';
    const made = expect(pool.run(job)).rejects.toThrow(new TimeoutError(late));
    await vi.advanceTimersByTimeAsync(3000);
    await made;
  });

  it('rejects what waits when it is closed, and whatever comes later', async () => {
    const { pool, connections, closed } = open();
    const made = expect(pool.run(job)).rejects.toThrow('but it was closed');
    await settle();
    await Promise.all([pool.close(), pool[Symbol.asyncDispose]()]);
    await made;
    expect(connections.map(({ isOpen }) => isOpen)).toEqual([false, false]);
    expect(closed).toEqual(['queue', 'events']);
    await expect(pool.run(job)).rejects.toThrow('the pool is closed');
  });

  it('asks Redis again after 50 ms more each time, at most after two seconds', () => {
    const { connections } = open();
    const wait = connections[0]!.options.retryStrategy as (attempt: number) => number;
    expect([1, 2, 40, 41, 1000].map(wait)).toEqual([50, 100, 2000, 2000, 2000]);
    expect(connections.map((each) => each.url)).toEqual([url, url]);
  });
});

describe('a worker of a queue', () => {
  const worker = { workers: 3, run: async () => group };

  it('runs a job and returns its group', async () => {
    const served = await serveBullRollouts({ url, worker, lockMs: 700, maxStalled: 2 });
    const [{ process, options }] = state.queue.workers as [(typeof state.queue.workers)[number]];
    expect(await process({ id: 'ab', data: job })).toEqual({ group });
    expect(options).toMatchObject({
      concurrency: 3,
      lockDuration: 700,
      stalledInterval: 700,
      maxStalledCount: 2,
    });
    expect(options).not.toHaveProperty('limiter');
    await served.close();
  });

  it.each([
    [4, { max: 4, duration: 1000 }],
    [0.25, { max: 1, duration: 4000 }],
  ])('takes at most %d jobs a second', async (jobsPerSecond, limiter) => {
    await serveBullRollouts({ url, worker: { run: worker.run }, jobsPerSecond });
    expect(state.queue.workers[0]!.options).toMatchObject({ limiter, concurrency: 1 });
    await serveBullRollouts({ url, worker, concurrency: 7 });
    expect(state.queue.workers[1]!.options.concurrency).toBe(7);
  });

  it('stops its jobs once it takes no more, and leaves Redis', async () => {
    let stopped = false;
    const run = async (_: GroupJob, { signal }: { readonly signal?: AbortSignal } = {}) => {
      signal!.addEventListener('abort', () => {
        stopped = true;
      });
      return group;
    };
    const served = await serveBullRollouts({ url, worker: { run } });
    await state.queue.workers[0]!.process({ id: 'ab', data: job });
    expect(stopped).toBe(false);
    await Promise.all([served.close(), served[Symbol.asyncDispose]()]);
    expect([stopped, state.queue.closed, state.queue.connections[0]!.isOpen]).toEqual([
      true,
      ['worker'],
      false,
    ]);
  });
});
