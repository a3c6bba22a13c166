import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

/** A batcher whose batches wait to be ended by the test. */
function held(batchSize: number) {
  const batches: {
    readonly questions: readonly string[];
    readonly signal: AbortSignal;
    readonly end: (error?: Error) => void;
  }[] = [];
  const batcher = new Batcher<string, string>({
    ...{ batchSize, concurrency: 1, isOfOne: () => true },
    ask: (questions, signal) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(questions) : reject(error));
        batches.push({ questions, signal, end });
      }),
  });
  return { batcher, batches, asked: () => batches.map(({ questions }) => questions) };
}

/** Everything that waits for nothing but promises is over. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a question whose signal fired', () => {
  it('while it waited is not asked', async () => {
    const { batcher, batches, asked } = held(1);
    const controller = new AbortController();
    const first = batcher.ask('first', undefined);
    const second = batcher.ask('second', controller.signal);
    const third = batcher.ask('third', undefined);
    await settled();
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    batches[0]!.end();
    expect(await first).toBe('first');
    await settled();
    batches[1]!.end();
    expect(await third).toBe('third');
    expect(asked()).toEqual([['first'], ['third']]);
  });

  it('while its batch failed is not asked again', async () => {
    const { batcher, batches, asked } = held(2);
    const controller = new AbortController();
    const first = batcher.ask('first', undefined);
    const second = batcher.ask('second', controller.signal);
    await settled();
    controller.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    batches[0]!.end(new RangeError('bad'));
    await settled();
    batches[1]!.end();
    expect(await first).toBe('first');
    await settled();
    expect(asked()).toEqual([['first', 'second'], ['first']]);
  });
});

it('listens to no signal once a batch is over', async () => {
  const { batcher, batches } = held(2);
  const controller = new AbortController();
  const answers = ['first', 'second'].map((question) => batcher.ask(question, controller.signal));
  await settled();
  batches[0]!.end();
  expect(await Promise.all(answers)).toEqual(['first', 'second']);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  controller.abort();
  expect(batches[0]!.signal.aborted).toBe(false);
});
