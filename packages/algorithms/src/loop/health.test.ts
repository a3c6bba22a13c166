import type { Metrics } from '@rlp/core';
import { expect, it } from 'vitest';
import { banditSetup, collect } from './bandit.fixture.ts';
import { RunHealth } from './health.ts';
import { resolveRlOptions } from './options.ts';

const collapsed = /entropy of the policy fell/;

it.each([0.2, 0.5, 2])(
  'takes tables that have learned their answers for sound: learning rate %d',
  async (learningRate) => {
    const reports = await collect(banditSetup('health', { learningRate }), { iterations: 40 });
    expect(reports.at(-1)!.metrics['reward/mean']).toBe(1);
    expect(reports.at(-1)!.metrics['entropy/estimate']).toBeLessThan(0.02);
    expect(reports.flatMap(({ notes }) => notes).join('\n')).not.toMatch(collapsed);
  },
);

it.each([
  [0.4, 0.3, 0.3, true],
  [0.4, 0.3, 0, true],
  [0.4, 0.3, 0.9, false],
  [1.2, 0.3, 0.9, true],
])('judges a fall of entropy from %d nats by the rewards: %d, then %d', (entropy, before, after, isNoted) => {
  const health = new RunHealth(resolveRlOptions({}).failureBudget, 'fresh');
  const notesAt = (nats: number, reward: number) =>
    health.examine({ 'entropy/estimate': nats, 'reward/mean': reward } as Metrics).notes.join();
  expect(notesAt(entropy, before)).not.toMatch(collapsed);
  expect(collapsed.test(notesAt(0.01, after))).toBe(isNoted);
});

it('notes that no state came again, unless nothing is learned anyway', () => {
  const health = new RunHealth(resolveRlOptions({}).failureBudget, 'fresh');
  const noted = (metrics: Metrics) =>
    /no state of an episode came again/.test(health.examine(metrics).notes.join());
  const learned = { 'groups/count': 4, 'groups/zero-variance': 0, 'update/count': 1, 'reward/mean': 0.5 };
  expect(noted({ ...learned, 'anchors/compared': 0 })).toBe(true);
  expect(noted({ ...learned, 'anchors/compared': 0.1 })).toBe(false);
  expect(noted(learned)).toBe(false);
  expect(noted({ ...learned, 'groups/zero-variance': 4, 'update/count': 0, 'anchors/compared': 0 })).toBe(
    false,
  );
});
