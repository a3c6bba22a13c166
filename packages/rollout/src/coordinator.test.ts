import { getEventListeners } from 'node:events';
import type { Task, TaskSource } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRolloutCoordinator, type RolloutCoordinatorOptions } from './index.ts';
import { type MockPolicyOptions, mockEnvironment, mockPolicy } from './testing.ts';

/** Endless tasks `t0`, `t1`, … */
function endless(): TaskSource {
  let cursor = 0;
  const next = (): Task => ({ id: `t${cursor}`, prompt: `${cursor++}?`, metadata: undefined });
  return {
    get cursor() {
      return cursor;
    },
    take: (count) => Array.from({ length: count }, next),
    seek: (to) => {
      cursor = to;
    },
  };
}

type Options = Omit<Partial<RolloutCoordinatorOptions>, 'policy'> & { readonly speaker?: MockPolicyOptions };

function coordinate({ speaker, ...options }: Options = {}) {
  const policy = mockPolicy(speaker);
  const coordinator = createRolloutCoordinator({
    environment: () => mockEnvironment(),
    policy: () => policy,
    tasks: endless(),
    ...options,
  });
  onTestFinished(() => coordinator.close());
  return { coordinator, requests: policy.sampler.requests };
}

/** Counts the requests under way, of one answer each: from where the policy is asked until it speaks. */
function gauge() {
  let now = 0;
  const seen = { peak: 0 };
  const delay = () => {
    now += 1;
    seen.peak = Math.max(seen.peak, now);
    return 3;
  };
  const speak = () => {
    now -= 1;
    return 'ok';
  };
  return { seen, speaker: { delay, speak } };
}

describe('createRolloutCoordinator', () => {
  it('collects buffers of single episodes for PPO, and of whole groups for GRPO', async () => {
    const single = await coordinate({ maxEpisodes: 5 }).coordinator.collect();
    expect(single.map(({ id, status }) => [id, status])).toEqual(
      [0, 1, 2, 3, 4].map((task) => [`0/t${task}/0`, 'completed']),
    );
    const grouped = await coordinate({ algorithm: 'grpo', maxEpisodes: 20 }).coordinator.collect();
    expect(grouped.map(({ group }) => group?.id)).toEqual([
      ...Array(8).fill('0/t0'),
      ...Array(8).fill('0/t1'),
    ]);
    const { coordinator } = coordinate({ algorithm: 'grpo', groupSize: 2, maxEpisodes: 2 });
    expect(await coordinator.collect()).toHaveLength(2);
  });

  it('goes on with further tasks, and counts what it collected', async () => {
    const { coordinator } = coordinate({ maxEpisodes: 2 });
    expect(coordinator.getStatistics()).toBeUndefined();
    const tasks = [await coordinator.collect(), await coordinator.collect()]
      .flat()
      .map(({ task }) => task.id);
    expect(tasks).toEqual(['t0', 't1', 't2', 't3']);
    expect(coordinator.getStatistics()).toMatchObject({ groups: 4, trajectories: 4 });
  });

  it.each([
    [0, 1],
    [3, 3],
  ])('with %i workers has at most %i groups under way', async (numWorkers, peak) => {
    const { seen, speaker } = gauge();
    await coordinate({ numWorkers, maxEpisodes: 7, speaker }).coordinator.collect();
    expect(seen.peak).toBe(peak);
  });

  it('makes environment and policy once, when the first buffer is asked for', async () => {
    const made: string[] = [];
    const policy = mockPolicy();
    const coordinator = createRolloutCoordinator({
      environment: async () => {
        made.push('environment');
        return mockEnvironment();
      },
      policy: () => {
        made.push('policy');
        const close = async () => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          made.push('closed');
        };
        return { ...policy, close };
      },
      tasks: endless(),
      maxEpisodes: 1,
    });
    expect(made).toEqual([]);
    await Promise.all([coordinator.collect(), coordinator.collect()]);
    expect(made).toEqual(['environment', 'policy']);
    void coordinator.close();
    await coordinator.close();
    expect(made).toEqual(['environment', 'policy', 'closed']);
    await expect(coordinator.collect()).rejects.toThrow('the coordinator is closed');
  });

  it('asks a factory again that failed', async () => {
    let calls = 0;
    const environment = () => {
      calls += 1;
      if (calls === 1) throw new Error('no such world');
      return mockEnvironment();
    };
    const { coordinator } = coordinate({ environment, maxEpisodes: 1 });
    await expect(coordinator.collect()).rejects.toThrow('no such world');
    expect(await coordinator.collect()).toHaveLength(1);
  });

  it('gives broken episodes as data, or leaves them out', async () => {
    const speak = (prompt: string) => {
      if (prompt.startsWith('1')) throw new Error('speechless');
      return 'ok';
    };
    const kept = await coordinate({ speaker: { speak }, maxEpisodes: 3 }).coordinator.collect();
    expect(kept.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed']);
    expect(kept[1]!.failure).toEqual({ boundary: 'sampler', message: 'speechless' });
    const options = { speaker: { speak }, maxEpisodes: 3, onFailure: 'drop-member' as const };
    const dropped = await coordinate(options).coordinator.collect();
    expect(dropped.map(({ task, status }) => [task.id, status])).toEqual([
      ['t0', 'completed'],
      ['t2', 'completed'],
      ['t3', 'completed'],
    ]);
  });

  it.each(['signal', 'close'] as const)('ends early by %s, with what there is', async (how) => {
    const controller = new AbortController();
    const { coordinator, requests } = coordinate({
      numWorkers: 1,
      maxEpisodes: 100,
      speaker: { delay: () => (requests.length === 3 ? 1e6 : 0) },
    });
    const collecting = coordinator.collect({ signal: controller.signal });
    while (requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    if (how === 'signal') controller.abort();
    else await coordinator.close();
    expect((await collecting).map(({ status }) => status)).toEqual(['completed', 'completed', 'aborted']);
  });

  it('closes the policy at the end of its scope', async () => {
    const events: string[] = [];
    {
      await using coordinator = createRolloutCoordinator({
        environment: () => mockEnvironment(),
        policy: () => ({ ...mockPolicy(), close: async () => void events.push('closed') }),
        tasks: endless(),
        maxEpisodes: 1,
      });
      await coordinator.collect();
      events.push('collected');
    }
    expect(events).toEqual(['collected', 'closed']);
  });

  it('does not wait for a factory once the signal fires', async () => {
    const { coordinator, requests } = coordinate({
      environment: () => new Promise((resolve) => setTimeout(resolve, 20, mockEnvironment())),
    });
    const controller = new AbortController();
    const collecting = coordinator.collect({ signal: controller.signal });
    controller.abort();
    expect(await collecting).toEqual([]);
    expect(coordinator.getStatistics()).toBeUndefined();
    expect(await coordinator.collect()).toHaveLength(100);
    expect(requests).toHaveLength(100);
  });

  it('closes before anything was made, and a policy without `close`', async () => {
    const { coordinator } = coordinate({ environment: () => expect.unreachable() });
    await coordinator.close();
    const other = coordinate({ maxEpisodes: 1 }).coordinator;
    await other.collect();
    await other.close();
    await expect(other.collect()).rejects.toThrow(
      'collect: the coordinator is closed: make another with createRolloutCoordinator',
    );
  });

  it('closes the policy once a factory under way has failed', async () => {
    const { coordinator } = coordinate({
      environment: () => new Promise((_, reject) => setTimeout(reject, 5, new Error('no such world'))),
    });
    const collecting = coordinator.collect();
    await coordinator.close();
    expect(await collecting).toEqual([]);
  });

  it('keeps its policy for all buffers, and listens to no signal afterwards', async () => {
    let policies = 0;
    const coordinator = createRolloutCoordinator({
      environment: () => mockEnvironment(),
      policy: () => {
        policies += 1;
        return mockPolicy();
      },
      tasks: endless(),
      groupSize: 2,
      maxEpisodes: 5,
    });
    onTestFinished(() => coordinator.close());
    const { signal } = new AbortController();
    for (let times = 0; times < 2; times++) expect(await coordinator.collect({ signal })).toHaveLength(4);
    expect(policies).toBe(1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('names every problem of its options', () => {
    expect(() => coordinate({ numWorkers: -1, maxTurns: 0 })).toThrow(
      /createRolloutCoordinator: invalid options[\s\S]*maxTurns[\s\S]*numWorkers/,
    );
    expect(() => coordinate({ algorithm: 'grpo', maxEpisodes: 4 })).toThrow(
      'maxEpisodes: must hold a whole group: at least groupSize',
    );
    expect(() => coordinate({ environment: mockEnvironment() as never })).toThrow(
      'expected environment to be a function that makes one, got object',
    );
  });
});
