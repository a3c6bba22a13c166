import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inLanes } from './in-lanes.ts';

/** Runs that end when they are told to, and what happened. */
function record(count: number, lanes: number, fails: (index: number) => boolean = () => false) {
  const log: string[] = [];
  const ends = new Map<number, () => void>();
  const done = inLanes({
    ...{ count, lanes },
    start: (index, lane) => {
      log.push(`start ${index} in ${lane}`);
      return new Promise<number>((resolve, reject) => {
        ends.set(index, () => (fails(index) ? reject(new Error(`run ${index}`)) : resolve(index)));
      });
    },
    take: async (result, index) => void log.push(`take ${result === index ? index : 'wrong'}`),
  });
  const end = async (index: number) => {
    ends.get(index)!();
    ends.delete(index);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { log, ends, end, done };
}

it('two runs are under way at once, are taken in order, and only then is their lane free', async () => {
  const { log, end, done } = record(4, 2);
  expect(log).toEqual(['start 0 in 0', 'start 1 in 1']);
  await end(1);
  expect(log).toHaveLength(2);
  await end(0);
  expect(log.slice(2).toSorted()).toEqual(['start 2 in 0', 'start 3 in 1', 'take 0', 'take 1']);
  for (const index of [3, 2]) await end(index);
  await done;
  expect(log.slice(-2)).toEqual(['take 2', 'take 3']);
});

it('results come in order whatever the order in which runs end', async () => {
  const schedule = fc.array(fc.nat(9), { minLength: 12, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(schedule, fc.integer({ min: 1, max: 3 }), async (picks, lanes) => {
      const { log, ends, end, done } = record(picks.length, lanes);
      for (const pick of picks) {
        expect(ends.size).toBeLessThanOrEqual(lanes);
        await end([...ends.keys()][pick % ends.size]!);
      }
      await done;
      const of = (what: string) => log.filter((line) => line.startsWith(what));
      expect(of('take')).toEqual(picks.map((_, index) => `take ${index}`));
      expect(of('start').map((line) => line.split(' ')[1])).toEqual(picks.map((_, index) => `${index}`));
    }),
    { numRuns: 20 },
  );
});

it('after a failure no run begins, and the first one by index is reported once all have ended', async () => {
  const { log, end, done } = record(6, 2, (index) => index < 2);
  let state = 'pending';
  const settled = done.catch(({ message }) => (state = message));
  await end(1);
  expect(state).toBe('pending');
  await end(0);
  await settled;
  expect(state).toBe('run 0');
  expect(log).toEqual(['start 0 in 0', 'start 1 in 1']);
});

it('does nothing with no runs', async () => {
  await record(0, 2).done;
});
