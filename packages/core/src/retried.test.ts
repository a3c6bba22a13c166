import { expect, it } from 'vitest';
import { RandomStream } from './random.ts';
import { retried } from './retried.ts';

const backoff = { firstMs: 100, longestMs: 400 };
const random = () => RandomStream.named('test');

/** Runs work that fails `failures` times. Records attempts and waits. */
async function run(failures: number, { attempts = 5, least = 0 as number | null, draws = random } = {}) {
  const waits: number[] = [];
  const made: number[] = [];
  const value = await retried(
    (attempt) => {
      made.push(attempt);
      if (attempt <= failures) throw new Error(`failure ${attempt}`);
      return 'done';
    },
    {
      ...{ attempts, backoff, random: draws },
      waitAfter: () => least ?? undefined,
      sleep: async (milliseconds) => void waits.push(milliseconds),
    },
  ).catch((error: Error) => error.message);
  return { value, waits, made };
}

it('tries again until the work succeeds, with growing waits within the bounds', async () => {
  const { value, waits, made } = await run(4);
  expect([value, made]).toEqual(['done', [1, 2, 3, 4, 5]]);
  for (const wait of waits) expect(wait).toSatisfy((ms: number) => ms >= 100 && ms <= 400);
  expect(await run(4)).toEqual({ value, waits, made }); // the waits are a function of the stream
});

it('waits in the middle between the first wait and three times the last one, if the draw is a half', async () => {
  const half = () => ({ uniform: () => 0.5 }) as unknown as RandomStream;
  expect((await run(4, { draws: half })).waits).toEqual([200, 350, 400, 400]);
});

it('gives up after the last attempt, and at once where waiting does not help', async () => {
  expect(await run(9, { attempts: 2 })).toMatchObject({ value: 'failure 2', made: [1, 2] });
  expect(await run(9, { least: null })).toMatchObject({ value: 'failure 1', made: [1], waits: [] });
});

it('waits as long as asked, within the longest wait', async () => {
  expect((await run(2, { least: 399 })).waits).toEqual([399, 399]);
  expect((await run(1, { least: 60_000 })).waits).toEqual([400]);
});

it('stops waiting when the signal aborts', async () => {
  const controller = new AbortController();
  const work = retried(() => Promise.reject(new Error('away')), {
    ...{ attempts: 3, backoff: { firstMs: 60_000, longestMs: 60_000 }, random, waitAfter: () => 0 },
    signal: controller.signal,
  });
  controller.abort(new Error('stopped'));
  await expect(work).rejects.toThrow('stopped');
});
