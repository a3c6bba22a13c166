import type { Loss, TrainingBackend, TrainingSequence } from '@rlp/core';
import { expect, it } from 'vitest';
import { makeUpdates } from './updates.ts';

const sequence = {} as TrainingSequence;

/** Update numbers that a plan was asked for, and what came of it. `plans` are the minibatches' sequences. */
async function updatesOf(plans: readonly (readonly TrainingSequence[] | 'stop')[]) {
  const asked: number[] = [];
  const backend = { forwardBackward: async () => ({}), optimStep: async () => ({}) };
  const { passes, updates, skipped } = await makeUpdates({
    backend: backend as unknown as TrainingBackend,
    loss: {} as Loss,
    count: plans.length,
    epochs: 1,
    minibatches: plans.length,
    stream: ['updates'],
    sequencesOf: (_, update) => plans[asked.push(update) - 1]!,
  });
  return { asked, passes: passes.length, updates: updates.length, skipped };
}

it('a minibatch without sequences makes no update and takes no number', async () => {
  expect(await updatesOf([[], [sequence], [], [sequence]])).toEqual({
    asked: [0, 0, 1, 1],
    passes: 2,
    updates: 2,
    skipped: 0,
  });
});

it("'stop' skips its minibatch and those behind it", async () => {
  expect(await updatesOf([[sequence], [], 'stop', [sequence]])).toMatchObject({
    asked: [0, 1, 1],
    updates: 1,
    skipped: 2,
  });
});
