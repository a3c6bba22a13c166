import { expect, it } from 'vitest';
import { reward } from '../authoring.ts';
import { externalReward } from '../external.ts';
import { pointwiseJudge } from '../judge.ts';
import { answering } from '../trajectories.fixture.ts';

it.each([
  ['reward', reward({ name: 'one', range: [0, 1], score: () => 1 }).reward],
  ['externalReward', externalReward({ url: 'http://127.0.0.1:1' }).reward],
  ['pointwiseJudge', pointwiseJudge({ generator: async () => '1', rubric: 'x' }).reward],
] as const)('%s says what a call without a context or a trajectory needs', async (owner, call) => {
  const asked = async (...given: readonly unknown[]) => call(...(given as Parameters<typeof call>));
  await expect(asked(answering('x', {}))).rejects.toThrow(
    `${owner}: expected a context with an AbortSignal, got undefined; call reward(trajectory, { signal:`,
  );
  await expect(asked()).rejects.toThrow(`${owner}: expected an object with task, response, got undefined`);
});
