import { ArgumentError, type Trajectory } from '@rlp/core';
import { expect, it } from 'vitest';
import { startsOfStates, startsOfTasks, startsOfTrajectories } from './group-starts.ts';

const task = (id: string) => ({ id, prompt: id, metadata: undefined });
const episode = (group: string, member: number) =>
  ({ id: `${group}/${member}`, task: task('a'), group: { id: group, member } }) as unknown as Trajectory;

it('groups are named by iteration, round, task and repetition', () => {
  const repetitions = new Map<string, number>();
  const names = (round?: number) =>
    startsOfTasks(['a', 'b', 'a', 'a'].map(task), { iteration: 3, round }, repetitions).map(
      ({ groupId }) => groupId,
    );
  expect(names()).toEqual(['3/a', '3/b', '3/a#1', '3/a#2']);
  expect(names(0)).toEqual(['3/a#3', '3/b#1', '3/a#4', '3/a#5']);
  expect(names(2)[0]).toBe('3.2/a#6');
});

it('groups begin with the episodes that carry their name, by their place', () => {
  const [first, second, other] = [episode('0/a', 2), episode('0/a', 0), episode('1/a', 0)];
  const groupless = { id: 'x' } as unknown as Trajectory;
  const unfinished = [first!, second!, other!, groupless];
  const [a, b] = startsOfTasks(['a', 'b'].map(task), { iteration: 0, unfinished }, new Map());
  expect(a!.carried).toEqual(
    new Map([
      [2, first],
      [0, second],
    ]),
  );
  expect(b).toEqual({ task: task('b'), groupId: '0/b', carried: undefined });
});

it('resumed groups have the task of their episodes', () => {
  expect(startsOfTrajectories([episode('0/a', 1), episode('1/a', 0), episode('0/a', 0)])).toMatchObject([
    { groupId: '0/a', task: { id: 'a' } },
    { groupId: '1/a', task: { id: 'a' } },
  ]);
});

it.each([
  [0, undefined],
  [65_535, undefined],
  [65_536, 'is member 65536 of its group, expected a whole number from 0 to 65535'],
  [-1, 'is member -1 of its group'],
  [0.5, 'is member 0.5 of its group'],
  [Number.NaN, 'is member NaN of its group'],
])('the place %d of a member is checked', (member, problem) => {
  const starts = () => startsOfTrajectories([episode('g', member)]);
  if (problem === undefined) expect(starts()).toHaveLength(1);
  else expect(starts).toThrow(`unfinished episodes: trajectory "g/${member}" ${problem}`);
});

it('a place has one member', () => {
  expect(() => startsOfTrajectories([episode('g', 1), episode('h', 1), episode('g', 1)])).toThrow(
    new ArgumentError(
      'unfinished episodes: two trajectories are member 1 of the group "g"; pass the one that continues',
    ),
  );
});

it('forks are named by the turn that they begin in', () => {
  const fork = (id: string, stepCount: number) => ({
    task: task(id),
    state: { prompt: '', response: '', stepCount },
  });
  const states = [fork('a', 2), fork('a', 2), fork('a', 3), fork('b', 2)];
  expect(startsOfStates(states, { iteration: 1, round: 1 }).map(({ groupId }) => groupId)).toEqual([
    ...['1.1/a~2', '1.1/a~2#1', '1.1/a~3', '1.1/b~2'],
  ]);
  expect(startsOfStates(states, { iteration: 1 })[2]).toEqual({
    task: task('a'),
    groupId: '1/a~3',
    state: states[2]!.state,
  });
});
