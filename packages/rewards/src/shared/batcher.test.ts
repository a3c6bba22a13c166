import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Batcher } from './batcher.ts';

it('asks about all questions once, and again only about those of a batch that failed', async () => {
  const rows = fc.array(fc.constantFrom('good', 'bad'), { maxLength: 40 });
  const number = fc.integer({ min: 1, max: 9 });
  await fc.assert(
    fc.asyncProperty(rows, number, number, async (given, batchSize, concurrency) => {
      const asked: (readonly string[])[] = [];
      let [running, most] = [0, 0];
      const batcher = new Batcher<string, string>({
        ...{ batchSize, concurrency, isOfOne: () => true },
        ask: async (questions) => {
          asked.push(questions);
          most = Math.max(most, ++running);
          await Promise.resolve();
          running -= 1;
          if (questions.includes('bad')) throw new RangeError('bad');
          return questions.map((question) => `${question}!`);
        },
      });
      const answers = await Promise.allSettled(given.map((question) => batcher.ask(question, undefined)));
      expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'bad'))).toEqual(
        given.map((question) => (question === 'bad' ? question : 'good!')),
      );
      expect(asked.filter((questions) => questions.length > batchSize)).toEqual([]);
      expect(asked.filter((questions) => questions.length > 1).length).toBeLessThanOrEqual(
        Math.ceil(given.length / batchSize),
      );
      expect(most).toBeLessThanOrEqual(concurrency);
    }),
  );
});

it('gives up a batch once all who asked have', async () => {
  const controllers = [new AbortController(), new AbortController()];
  let given: AbortSignal | undefined;
  const batcher = new Batcher<number, number>({
    ...{ batchSize: 2, concurrency: 1, isOfOne: () => true },
    ask: (_, signal) => {
      given = signal;
      return new Promise(() => {});
    },
  });
  const asking = controllers.map(({ signal }, k) => batcher.ask(k, signal));
  await Promise.resolve();
  await Promise.resolve();
  controllers[0]!.abort(new Error('first'));
  await expect(asking[0]).rejects.toThrow('first');
  expect(given?.aborted).toBe(false);
  controllers[1]!.abort(new Error('second'));
  await expect(asking[1]).rejects.toThrow('second');
  expect(given?.aborted).toBe(true);
});
