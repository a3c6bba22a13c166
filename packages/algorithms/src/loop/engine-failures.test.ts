import type { TaskSource } from '@rlp/core';
import { type ArithmeticMetadata, SimpleTextEnvironment } from '@rlp/env';
import { RolloutManager } from '@rlp/rollout';
import { expect, it, onTestFinished } from 'vitest';
import { forLoop } from './bandit.fixture.ts';
import { type EngineVariation, engineSetup } from './engine.fixture.ts';
import { runRlTraining } from './rl.ts';

async function setUp(variation?: EngineVariation) {
  const setup = await engineSetup(variation);
  onTestFinished(() => setup.close());
  return setup;
}

it.each(['inline', 'worker'] as const)(
  'ends with one error when its engine is closed beneath it (%s)',
  async (thread) => {
    const setup = await setUp({ thread });
    const run = runRlTraining(forLoop(setup), { iterations: 50, tasksPerIteration: 2 });
    expect((await run.next()).done).toBe(false);
    const next = run.next();
    const closing = setup.engine.close();
    await expect(next).rejects.toThrow('the engine was closed');
    await closing;
    expect(await run.next()).toEqual({ done: true, value: undefined });
    await Promise.all([setup.inference.close(), setup.backend.close()]);
  },
);

it('trains on what fits when a prompt is longer than the context', async () => {
  const setup = await setUp();
  const long = { id: 'long', prompt: '1'.repeat(50), metadata: { addends: [1, 1], answer: '2' } } as const;
  const tasks: TaskSource<ArithmeticMetadata> = {
    cursor: 0,
    take: (count) => [long, ...setup.tasks.take(count - 1)],
    seek: () => undefined,
  };
  const run = runRlTraining({ ...forLoop(setup), tasks }, { iterations: 1, tasksPerIteration: 3 });
  const { value } = await run.next();
  expect(value?.metrics).toMatchObject({ 'trajectories/failed': 1 / 3, 'update/count': 1 });
  expect(value?.notes.join()).toMatch(
    /4 of 12 trajectories failed, the last at the sampler: .*the prompt has 51 tokens, but the context holds 32/,
  );
});

it('goes on after an environment that hangs, with the same tasks', async () => {
  const setup = await setUp();
  class Stuck extends SimpleTextEnvironment<ArithmeticMetadata> {
    resets = 0;
    override reset(task: Parameters<SimpleTextEnvironment<ArithmeticMetadata>['reset']>[0]) {
      this.resets += 1;
      return this.resets > 2 ? super.reset(task) : (new Promise(() => undefined) as never);
    }
  }
  const rollouts = new RolloutManager(
    { environment: new Stuck(), sampler: setup.inference, tokenizer: setup.tokenizer },
    { groupSize: 4, environmentTimeoutMs: 50, sampling: { maxTokens: 4 } },
  );
  const counts: (number | undefined)[] = [];
  const sleep = async () => undefined;
  const run = runRlTraining({ ...forLoop(setup), rollouts, sleep }, { iterations: 2, tasksPerIteration: 2 });
  for await (const { metrics } of run) counts.push(metrics['trajectories/failed'], metrics['update/count']);
  expect(counts).toEqual([0, 1, 0, 1]);
});
