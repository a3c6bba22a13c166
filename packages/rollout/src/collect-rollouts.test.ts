import type { Environment, Task } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { collect, type GrowingState, growing, manage, task, tasks } from './growing.fixture.ts';
import { RolloutManager, type RolloutOptions } from './index.ts';
import { mockPolicy } from './testing.ts';

describe('RolloutManager.collectRollouts', () => {
  const endless = (turns: number) => {
    let cursor = 0;
    return {
      get cursor() {
        return cursor;
      },
      take: (count: number) => Array.from({ length: count }, () => task(`t${cursor++ % 2}`, turns)),
      seek: (to: number) => {
        cursor = to;
      },
    };
  };

  it('collects whole groups until there are enough', async () => {
    const { manager } = manage();
    const trajectories = await manager.collectRollouts({ tasks: endless(2), minTrajectories: 10 });
    expect(trajectories).toHaveLength(12);
    expect(new Set(trajectories.map(({ id }) => id)).size).toBe(12);
    expect(manager.getStatistics()).toMatchObject({
      groups: 4,
      trajectories: 12,
      steps: 24,
      averageTrajectoryLength: 2,
      byStatus: { completed: 12, truncated: 0, aborted: 0, failed: 0 },
    });
  });

  it('limits the steps of each for this collection', async () => {
    const { manager } = manage();
    const trajectories = await manager.collectRollouts({
      tasks: endless(9),
      minTrajectories: 1,
      maxTurns: 4,
    });
    expect(trajectories.map(({ status, steps }) => [status, steps.length])).toEqual(
      Array(3).fill(['truncated', 4]),
    );
  });

  it('replaces what the failure policy drops, without using an id twice', async () => {
    const stumbling: Environment<GrowingState, number> = {
      ...growing,
      updateState: (state, response) => {
        if (state.prompt.startsWith('t0')) throw new Error('stumbled');
        return growing.updateState(state, response);
      },
    };
    const { manager } = manage({ environment: stumbling, options: { onFailure: 'drop-group' } });
    const trajectories = await manager.collectRollouts({ tasks: endless(1), minTrajectories: 12 });
    expect(trajectories).toHaveLength(12);
    expect(new Set(trajectories.map(({ id }) => id)).size).toBe(12);
  });

  it.each([0, 1.5, Number.NaN])('refuses to collect %d trajectories', async (minTrajectories) => {
    const given = { tasks: endless(1), minTrajectories, max_steps_per_rollout: 50 };
    await expect(manage().manager.collectRollouts(given)).rejects.toThrow(
      /minTrajectories: expected [\s\S]*Unrecognized option "max_steps_per_rollout"; in rlp this is maxTurns/,
    );
  });

  it('gives up only after ten rounds in a row without any', async () => {
    let rounds = 0;
    // Nine rounds fail, then one gives a group, and so on.
    const rare = {
      ...growing,
      reset: (...given: Parameters<typeof growing.reset>) => {
        rounds += 1;
        if (rounds % 10 !== 0) throw new Error('no');
        return growing.reset(...given);
      },
    };
    const options: RolloutOptions = { onFailure: 'drop-group', groupSize: 1 };
    const { manager } = manage({ environment: rare, options });
    const source = endless(1);
    // One task a round.
    const single = { ...source, take: () => source.take(1), cursor: 0 };
    expect(await manager.collectRollouts({ tasks: single, minTrajectories: 3 })).toHaveLength(3);
    expect(rounds).toBe(30);
    const reset = () => {
      rounds += 1;
      return Promise.reject(new Error('no'));
    };
    const never = { ...growing, reset };
    rounds = 0;
    const lost = manage({ environment: never, options }).manager;
    expect(await lost.collectRollouts({ tasks: single, minTrajectories: 1 })).toEqual([]);
    expect(rounds).toBe(10);
  });

  it('has a sink or none, and the last error, until the next', async () => {
    expect(manage().manager.isWatched).toBe(false);
    const dependencies = { environment: growing, ...mockPolicy(), onEvent: [() => undefined] };
    expect(new RolloutManager(dependencies).isWatched).toBe(true);
    const failing = {
      ...growing,
      reset: ({ id }: Task<number>) => {
        throw new Error(`no ${id}`);
      },
    };
    const { manager } = manage({ environment: failing, options: { groupSize: 1 } });
    expect(manager.lastError).toBeUndefined();
    await collect(manager.collectGroups(tasks(2)));
    expect(manager.lastError).toMatchObject({ message: 'environment.reset: no t1' });
  });

  it('gives up when nothing but failures comes', async () => {
    const broken = {
      ...growing,
      reset: () => {
        throw new Error('no');
      },
    };
    const { manager } = manage({ environment: broken, options: { onFailure: 'drop-member' } });
    expect(await manager.collectRollouts({ tasks: endless(1), minTrajectories: 4 })).toEqual([]);
  });
});
