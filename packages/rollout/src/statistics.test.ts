import type { Step, Trajectory } from '@rlp/core';
import { expect, it } from 'vitest';
import type { EpisodeOutcome } from './episode/episode-record.ts';
import { RolloutCounter } from './statistics.ts';

const step = (prompt: number, sampled: number): Step => ({
  promptTokens: Array(prompt).fill(1),
  tokens: Array(sampled).fill(2),
  behaviorLogprobs: Array(sampled).fill(-1),
  ...{ text: '', stopReason: 'stop' },
});
const outcome = (trajectory: Partial<Trajectory>, rest: Partial<EpisodeOutcome> = {}): EpisodeOutcome => ({
  trajectory: {
    ...{ id: 'a', task: { id: 'a', prompt: '', metadata: undefined }, messages: [], response: '' },
    ...{ steps: [], status: 'completed', policyVersion: 0, ...trajectory },
  },
  splits: 0,
  ...rest,
});

it('counts groups, trajectories by status, steps and tokens, with their means', () => {
  const counter = new RolloutCounter();
  counter.addGroup([
    outcome({ steps: [step(2, 3), step(6, 1)] }),
    outcome({ status: 'truncated', steps: [step(2, 5)] }),
  ]);
  counter.addGroup([outcome({ status: 'aborted' }), outcome({ status: 'pending' })]);
  expect(counter.groups).toBe(2);
  expect(counter.snapshot()).toEqual({
    ...{ groups: 2, trajectories: 4, byStatus: { completed: 1, truncated: 1, aborted: 1, failed: 0 } },
    ...{
      failures: { environment: 0, sampler: 0 },
      lastFailure: undefined,
      dropped: { groups: 0, trajectories: 0 },
    },
    ...{ carried: 0, steps: 3, splits: 0, lastSplit: undefined, tokens: { sampled: 9, prompt: 10 } },
    ...{ averageTrajectoryLength: 3 / 4, averageTokens: 9 / 4 },
  });
});

it('counts failures by their boundary, and keeps the last message', () => {
  const counter = new RolloutCounter();
  const failed = (boundary: 'environment' | 'sampler', message: string) =>
    outcome({ status: 'failed', failure: { boundary, message } });
  counter.addGroup([
    failed('environment', 'first'),
    failed('sampler', 'second'),
    failed('sampler', 'third'),
    outcome({}),
  ]);
  expect(counter.snapshot()).toMatchObject({
    ...{
      failures: { environment: 1, sampler: 2 },
      lastFailure: 'third',
      byStatus: { failed: 3, completed: 1 },
    },
  });
});

it('counts what was left out', () => {
  const counter = new RolloutCounter();
  counter.addDropped(2, 0);
  counter.addDropped(3, 1);
  expect(counter.snapshot().dropped).toEqual({ groups: 1, trajectories: 5 });
});

it('counts the new steps alone of what goes on, and nothing of what was over', () => {
  const counter = new RolloutCounter();
  const steps = [step(1, 1), step(1, 2), step(1, 4)];
  counter.addGroup([
    outcome({ steps }, { carriedSteps: 2 }),
    outcome({ steps }, { carriedSteps: 3, isCarried: true }),
    outcome({ steps }, { carriedSteps: 0 }),
  ]);
  expect(counter.snapshot()).toMatchObject({
    ...{ carried: 3, trajectories: 2, steps: 4, tokens: { sampled: 11, prompt: 4 } },
  });
});

it('notes each reason of a split once, and counts all', () => {
  const counter = new RolloutCounter();
  counter.note('first');
  counter.addGroup([
    outcome({}, { splits: 2, splitReason: 'rewritten' }),
    outcome({}, { splits: 1, splitReason: 'other' }),
    outcome({}, { splits: 1, splitReason: 'rewritten' }),
    outcome({}),
  ]);
  expect(counter.snapshot()).toMatchObject({ splits: 4, lastSplit: 'rewritten' });
  const note = 'a conversation continues in a new training row:';
  expect(counter.takeNotes()).toEqual(['first', `${note} rewritten`, `${note} other`]);
  expect(counter.takeNotes()).toEqual([]);
});

it('gives counts as values, which later counts leave alone', () => {
  const counter = new RolloutCounter();
  const before = counter.snapshot();
  counter.addGroup([
    outcome({ steps: [step(1, 1)], status: 'failed', failure: { boundary: 'sampler', message: 'x' } }),
  ]);
  counter.addDropped(1, 1);
  expect(before).toEqual(new RolloutCounter().snapshot());
  expect(before).toMatchObject({ averageTrajectoryLength: 0, averageTokens: 0 });
});
