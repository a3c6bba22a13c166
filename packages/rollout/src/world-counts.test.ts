import { expect, it } from 'vitest';
import { RolloutManager } from './index.ts';
import { mockEnvironment, mockPolicy } from './testing.ts';
import { WorldCounts } from './world-counts.ts';

const counts = { open: 1, idle: 2, waiting: 3, opened: 4, restored: 5, reused: 6, leaked: 0 };

function pool(leaked = 0) {
  const statistics = { ...counts, leaked };
  return { statistics, getStatistics: () => statistics };
}
const countsOf = (...pools: object[]) =>
  new WorldCounts(pools as ConstructorParameters<typeof WorldCounts>[0]);

it('adds up the counts of all pools, each once', () => {
  const [one, other] = [pool(1), pool(2)];
  expect(countsOf(one, other, one).total()).toEqual({
    ...{ open: 2, idle: 4, waiting: 6, opened: 8, restored: 10, reused: 12, leaked: 3 },
  });
  expect(new WorldCounts().total()).toBeUndefined();
});

it('tells of each leak once, and not of those before it', () => {
  const one = pool(5);
  const worlds = countsOf(one);
  const left = 'could not be closed and may still hold files or memory';
  expect(worlds.takeNotes()).toEqual([]);
  one.statistics.leaked = 6;
  expect([worlds.takeNotes(), worlds.takeNotes()]).toEqual([[`1 world ${left}`], []]);
  one.statistics.leaked = 8;
  expect(worlds.takeNotes()).toEqual([`2 worlds ${left}`]);
});

it('are among the statistics of a manager whose environment has pools, which begin with zeros', () => {
  const statistics = (pools?: readonly object[]) =>
    new RolloutManager({
      environment: { ...mockEnvironment(), ...(pools && { pools: pools as never }) },
      ...mockPolicy(),
    }).getStatistics();
  expect(statistics([pool(2)]).worlds).toEqual({ ...counts, leaked: 2 });
  expect(statistics()).not.toHaveProperty('worlds');
  expect(statistics()).toMatchObject({ trajectories: 0, averageTrajectoryLength: 0, averageTokens: 0 });
});
