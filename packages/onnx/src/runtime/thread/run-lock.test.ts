import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RunLock } from './run-lock.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('lets runs in together and changes alone, in order, whatever ends first and whatever fails', async () => {
  const kinds = fc.array(fc.constantFrom('run', 'run', 'change'), { minLength: 1, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(kinds, fc.array(fc.nat(), { minLength: 10, maxLength: 10 }), async (tasks, picks) => {
      const lock = new RunLock();
      const begun: number[] = [];
      const under = new Map<number, () => void>();
      const task = (index: number) => () => {
        begun.push(index);
        return new Promise<number>((resolve, reject) => {
          under.set(index, () => (index % 3 === 2 ? reject(new Error('failed')) : resolve(index)));
        });
      };
      const all = tasks.map((kind, index) => lock[kind](task(index)));
      const settled = Promise.allSettled(all);
      for (const pick of picks.slice(0, tasks.length)) {
        await turn();
        const found = [...under.keys()];
        if (found.length > 1) expect(found.map((index) => tasks[index])).not.toContain('change');
        const index = found[pick % found.length]!;
        under.get(index)!();
        under.delete(index);
      }
      const results = await settled;
      expect(begun).toEqual(tasks.map((_, index) => index));
      expect(results.map(({ status }) => status === 'rejected')).toEqual(
        tasks.map((_, index) => index % 3 === 2),
      );
    }),
    { numRuns: 50 },
  );
});

it('begins within the call where nothing is in the way', async () => {
  const lock = new RunLock();
  const log: string[] = [];
  const note = (text: string) => async () => void log.push(text);
  const runs = [lock.run(note('first')), lock.run(note('second'))];
  expect(log).toEqual(['first', 'second']);
  const change = lock.change(note('change'));
  const late = lock.run(note('late'));
  expect(log).toHaveLength(2);
  await Promise.all([...runs, change, late]);
  expect(log).toEqual(['first', 'second', 'change', 'late']);
});
