import type { Task, TrajectoryGroup } from '@rlp/core';
import { expect, it } from 'vitest';
import { RolloutManager } from './index.ts';
import { Pace } from './pace.ts';
import { mockEnvironment, mockPolicy } from './testing.ts';

const macrotask = () => new Promise((resolve) => setImmediate(resolve));

it('lets a burst go on in slices, in its order, with the event loop between them', async () => {
  const pace = new Pace();
  const passed: number[] = [];
  const all = Promise.all(
    Array.from({ length: 1000 }, async (_, at) => {
      await pace.pass();
      passed.push(at);
    }),
  );
  const counts: number[] = [];
  while (passed.length < 1000) {
    await macrotask();
    counts.push(passed.length);
  }
  await all;
  expect(passed).toEqual(Array.from({ length: 1000 }, (_, at) => at));
  expect(counts.length).toBeGreaterThan(10);
  await macrotask();
  await macrotask();
  expect(pace.pass()).toBeUndefined();
});

it('lets a burst of thousands of episodes neither stall the event loop nor change', async () => {
  const tasks = Array.from({ length: 400 }, (_, at): Task<undefined> => {
    return { id: `t${at}`, prompt: `t${at}`, metadata: undefined };
  });
  const collect = async (concurrency: number) => {
    const policy = mockPolicy({ speak: (_, stream) => String(stream.integer(1000)) });
    const manager = new RolloutManager<never, undefined>(
      { environment: mockEnvironment({ turns: 3 }) as never, ...policy },
      { groupSize: 4, concurrency },
    );
    const groups: TrajectoryGroup<undefined, undefined>[] = [];
    for await (const group of manager.collectGroups(tasks)) groups.push(group as never);
    return groups;
  };
  let turnsOfLoop = 0;
  let isOver = false;
  const look = () => {
    turnsOfLoop += 1;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  const burst = await collect(400);
  isOver = true;
  expect(turnsOfLoop).toBeGreaterThan((400 * 4 * 3) / 64 / 2);
  expect(burst).toEqual(await collect(3));
});
