import type { Metrics } from '@rlp/core';
import { describe, expect, it } from 'vitest';
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

describe('an iteration', () => {
  const budget = resolveRlOptions({ failureBudget: { samplerGap: 2, flatIterations: 2 } }).failureBudget;
  const flat = { 'groups/count': 4, 'groups/zero-variance': 4, 'update/count': 0, 'reward/mean': 0.125 };
  const equal = 'the rewards of every group are equal (mean 0.125), so nothing is learned';
  const remedy = '; make tasks easier, raise rollout.groupSize or give partial rewards';

  it('has a note above a tenth of the largest gap, and stops the run above all of it', () => {
    const at = (gap: number, metrics: Metrics = {}) => {
      const made = { 'staleness/max': 0, 'gap/absolute': gap, ...metrics };
      const { notes, stop } = new RunHealth(budget, 'fresh').examine(made);
      return [notes.length, stop?.reason];
    };
    expect(at(0.2)).toEqual([0, undefined]);
    expect(at(0.21)).toEqual([1, undefined]);
    expect(at(2)).toEqual([1, undefined]);
    expect(at(2.01)).toEqual([1, 'sampler-gap']);
    // Weights that differ may disagree.
    expect(at(9, { 'staleness/max': 1 })).toEqual([0, undefined]);
  });

  it('counts those from the start in which all rewards are equal, until one is learned from', () => {
    const health = new RunHealth(budget, 'fresh');
    expect(health.history).toBe('nothing scored yet');
    expect(health.examine(flat)).toEqual({
      notes: [`${equal} (1 of 2 iterations from the start that may be so)${remedy}`],
      stop: undefined,
    });
    expect(health.history).toBe('scored');
    expect(health.examine(flat).stop).toEqual({
      reason: 'rewards-equal',
      sentence: `${equal} (2 of 2 iterations from the start that may be so)`,
      remedy: remedy.slice(2),
    });
    health.examine({ ...flat, 'groups/zero-variance': 3, 'update/count': 1 });
    expect(health.examine(flat)).toEqual({ notes: [`${equal}${remedy}`], stop: undefined });
    expect(new RunHealth(budget, 'resumed').examine(flat).notes).toEqual([`${equal}${remedy}`]);
  });

  it.each([
    ['made an update', { 'update/count': 1 }],
    ['taught a critic', { 'update/critic-count': 1 }],
    ['had no group', { 'groups/count': 0, 'groups/zero-variance': 0 }],
    ['had no reward', { 'reward/mean': undefined as never }],
  ] as const)('is not one of equal rewards if it %s', (_, metrics) => {
    expect(new RunHealth(budget, 'fresh').examine({ ...flat, ...metrics }).notes.join()).not.toContain(equal);
  });

  it('says how many groups were equal, and which updates overflowed', () => {
    const metrics = { ...flat, 'groups/zero-variance': 1, 'update/count': 3, 'update/overflowed': 2 };
    expect(new RunHealth(budget, 'fresh').examine(metrics).notes).toEqual([
      '2 updates were left out, and 3 made: the gradient overflowed float16',
      '1 of 4 groups had no reward variance',
    ]);
  });

  it('never stops a run that goes on with what there is', () => {
    const patient = new RunHealth({ ...budget, flatIterations: 1, whenSpent: 'continue' }, 'fresh');
    expect(patient.examine(flat).stop).toBeUndefined();
  });
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
