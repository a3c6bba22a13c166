import { expect, it } from 'vitest';
import { Failures } from './failures.ts';

it('tells the first failure of each name and the total, whether work throws or rejects', async () => {
  const told: string[] = [];
  const failures = new Failures((message) => {
    told.push(message);
    throw new Error('nobody listens');
  });
  const broken = (): never => {
    throw new Error('full');
  };
  expect(failures.attempt('disk', broken)).toBeUndefined();
  expect(failures.attempt('disk', () => 7)).toBe(7);
  failures.attempt('disk', () => Promise.reject(new Error('gone')));
  failures.report('judge', 'it has no answer');
  expect(await failures.settled()).toEqual([]);
  failures.conclude();
  expect(failures.counts).toEqual({ disk: 2, judge: 1 });
  expect(told).toEqual([
    'disk: full; further failures are only counted',
    'judge: it has no answer; further failures are only counted',
    'disk: 2 times in total',
  ]);
});

it('waits for work no longer than a signal allows, and names what is not done', async () => {
  const failures = new Failures(() => undefined);
  failures.attempt('slow', () => new Promise(() => undefined));
  expect(await failures.settled(AbortSignal.timeout(5))).toEqual(['slow']);
});
