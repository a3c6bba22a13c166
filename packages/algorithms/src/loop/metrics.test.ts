import type { ForwardBackwardResult, OptimStepResult, ScoredTrajectory, Trajectory } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import type { Collection } from './collect.ts';
import type { LearnResult } from './learn.ts';
import {
  coefficientMetrics,
  collectionMetrics,
  collectionNotes,
  groupMetrics,
  learnMetrics,
} from './metrics.ts';
import { resolveRlOptions } from './options.ts';
import type { ScoredGroup } from './protocol.ts';

type Member = Partial<Omit<ScoredTrajectory, 'trajectory'>> & {
  readonly tokens?: readonly number[];
  readonly trajectory?: Partial<Trajectory>;
};

/** A scored trajectory with so many tokens in each step. */
function scoredOf({ tokens = [1], trajectory, reward = 0, ...more }: Member): ScoredTrajectory {
  const steps = tokens.map((length) => ({ tokens: new Array<number>(length).fill(0) }));
  const whole = { task: { prompt: 'ask' }, messages: [], status: 'completed', steps, ...trajectory };
  return { trajectory: whole as unknown as Trajectory, reward, components: {}, ...more };
}

const groupsOf = (...groups: readonly (readonly Member[])[]): ScoredGroup[] =>
  groups.map((members) => ({ group: {} as ScoredGroup['group'], scored: members.map(scoredOf) }));

describe('groupMetrics', () => {
  it('describes rewards, lengths and how trajectories ended', () => {
    const { metrics, notes } = groupMetrics(
      groupsOf(
        [
          { reward: 3, tokens: [2, 3] },
          { reward: -1, trajectory: { status: 'truncated' } },
        ],
        [{ reward: 1 }, { reward: 1, tokens: [] }],
        [{ reward: null, trajectory: { status: 'failed' } }],
      ),
    );
    expect(metrics).toEqual({
      'reward/mean': 1,
      'reward/std': Math.SQRT2,
      'reward/min': -1,
      'reward/max': 3,
      'groups/count': 3,
      'groups/zero-variance': 1,
      'trajectories/count': 5,
      'trajectories/unscored': 1,
      'trajectories/truncated': 0.2,
      'trajectories/failed': 0.2,
      'trajectories/steps': 1,
      'response/tokens': 1.6,
      'response/tokens-max': 5,
    });
    expect(notes).toEqual([]);
  });

  it('of nothing has counts only', () => {
    expect(groupMetrics([]).metrics).toEqual({
      'groups/count': 0,
      'groups/zero-variance': 0,
      'trajectories/count': 0,
      'trajectories/unscored': 0,
    });
  });

  it('takes the mean of a component over the trajectories that have it', () => {
    const { metrics } = groupMetrics(
      groupsOf([
        { components: { style: 1, length: null } },
        { components: { style: 4, length: 2 }, trajectory: { metrics: { moves: 7 } } },
        {},
      ]),
    );
    expect(metrics).toMatchObject({
      'reward/component/style': 2.5,
      'reward/component/length': 2,
      'environment/moves': 7,
    });
    const huge = { components: { style: 1.5e308 } };
    expect(groupMetrics(groupsOf([huge, huge])).metrics['reward/component/style']).toBe(1.5e308);
  });

  it('names the last failure of an episode, and why finished ones got no reward', () => {
    const broken = (message: string): Member => ({
      reward: null,
      trajectory: { status: 'failed', failure: { boundary: 'sampler', message } as never },
    });
    const failures = [{ message: 'the judge is away' }] as never;
    const notesOf = (...members: Member[]) => groupMetrics(groupsOf(members)).notes;
    expect(notesOf({ reward: 1 }, broken('first'), broken('second'))).toEqual([
      '2 of 3 trajectories failed, the last at the sampler: second',
    ]);
    expect(notesOf({ reward: null }, { reward: null, failures }, { reward: 1 })).toEqual([
      '2 of 3 finished trajectories got no reward: the first failed: the judge is away',
    ]);
    expect(notesOf({ reward: null, trajectory: { status: 'truncated' } })).toEqual([
      '1 of 1 finished trajectories got no reward: the reward was null',
    ]);
    expect(notesOf({ reward: null, trajectory: { status: 'aborted' } })).toEqual([]);
  });

  it('names a tool that failed in all of its calls, if they were at least four', () => {
    const call = (name: string, content: string) => ({ role: 'tool', name, content });
    const saying = (...said: object[]): Member => ({
      trajectory: { messages: [{ role: 'user', content: 'ask' }, ...said] as never },
    });
    const notesOf = (...members: Member[]) => groupMetrics(groupsOf(members)).notes;
    const [good, bad] = [call('search', 'found'), call('search', 'Error: no such index')];
    const note = 'tool "search": all 4 calls failed, the first: no such index';
    expect(notesOf(saying(bad, bad, call('add', '3')), saying(bad, bad))).toEqual([note]);
    expect(notesOf(saying(bad, bad, bad))).toEqual([]);
    expect(notesOf(saying(bad, bad, bad, bad, good))).toEqual([]);
    expect(notesOf(saying(...[bad, bad, bad, bad].map((one) => ({ ...one, role: 'user' }))))).toEqual([]);
    // Calls in the prompt are examples.
    const prompt = [bad, bad, bad, bad] as never;
    expect(notesOf({ trajectory: { task: { prompt } as never, messages: prompt } })).toEqual([]);
  });
});

describe('a collection', () => {
  const options = resolveRlOptions({ tasksPerIteration: 4 });
  const collection = (more: Partial<Collection>): Collection => ({
    ...{ groups: [], collected: groupsOf([], [], []), taken: 3, rounds: 1 },
    ...more,
  });

  it('counts what was turned down, and rounds beyond the first', () => {
    expect(collectionMetrics(collection({}))).toEqual({});
    expect(collectionMetrics(collection({ rejected: 0, rounds: 2 }))).toEqual({
      'groups/rejected': 0,
      'groups/rounds': 2,
    });
  });

  it('notes groups that were dropped, and that too few were worth learning from', () => {
    expect(collectionNotes(collection({}), 3, options)).toEqual([]);
    expect(collectionNotes(collection({ taken: 5 }), 3, options)).toEqual([
      '2 of 5 groups were dropped by the failure policy',
    ]);
    expect(collectionNotes(collection({ rounds: 2 }), 3, options)).toEqual([
      '3 of 4 groups were worth learning from after 2 rounds of collection',
    ]);
    expect(collectionNotes(collection({ rounds: 2 }), 4, options)).toEqual([]);
  });
});

describe('learnMetrics', () => {
  const pass = (loss: number, trained: number, metrics = {}) =>
    ({ loss, metrics, tokens: { trained, total: 2 * trained } }) as unknown as ForwardBackwardResult;
  const step = (gradientNorm: number, more: object = {}) =>
    ({ gradientNorm, learningRate: 0.1, ...more }) as unknown as OptimStepResult;
  const metricsOf = (result: Partial<LearnResult>) =>
    learnMetrics({ trajectories: 0, policy: { passes: [], updates: [], skipped: 0 }, ...result });

  it('weighs metrics of losses by trained tokens, and takes plain means of losses and norms', () => {
    const passes = [pass(1, 1, { 'clip/low': 1 }), pass(2, 3, { 'clip/low': 0 })];
    const updates = [step(2), step(4, { learningRate: 0.05 })];
    expect(metricsOf({ policy: { passes, updates, skipped: 1 }, surprise: 0.5 })).toEqual({
      'update/count': 2,
      'update/skipped': 1,
      'entropy/estimate': 0.5,
      'tokens/trained': 4,
      'tokens/computed': 8,
      'loss/policy': 1.5,
      'gradient/norm': 3,
      'learning-rate': 0.05,
      'clip/low': 0.25,
    });
  });

  it('leaves updates that overflowed out of the count and of the norm', () => {
    const updates = [step(2), step(Number.POSITIVE_INFINITY, { skipped: 'overflow' })];
    const made = { passes: [pass(1, 1)], updates, skipped: 0 };
    const critic = { passes: [pass(3, 2, { 'loss/value': 3 })], updates: updates.slice(1), skipped: 0 };
    expect(metricsOf({ policy: made, critic })).toMatchObject({
      ...{ 'update/count': 1, 'update/overflowed': 1, 'gradient/norm': 2 },
      ...{ 'update/critic-count': 0, 'update/critic-overflowed': 1, 'learning-rate/critic': 0.1 },
      'loss/value': 3,
    });
    expect(metricsOf({ policy: made, critic })).not.toHaveProperty('gradient/critic-norm');
    expect(metricsOf({ policy: made })).not.toHaveProperty('update/skipped');
  });

  it('has counts only without an update, and what was measured before', () => {
    const none = { 'update/count': 0, 'tokens/trained': 0, 'tokens/computed': 0 };
    expect(metricsOf({})).toEqual(none);
    expect(metricsOf({ critic: { passes: [], updates: [], skipped: 0 } })).toEqual({
      ...none,
      'update/critic-count': 0,
    });
    const measured = {
      ...{ entropy: 0, rewardKl: 0, referenceKl: 0, anchors: { compared: 0, steps: 0 } },
      values: { explained: undefined, mean: 0, returns: 0 },
    };
    expect(metricsOf(measured)).toEqual({
      ...none,
      ...{ 'value/mean': 0, 'value/returns': 0, 'entropy/mean': 0, 'kl/reward': 0, 'kl/reference': 0 },
      ...{ 'anchors/compared': 0, 'anchors/steps': 0 },
    });
    const values = { explained: 0.5, mean: 1, returns: 2 };
    expect(metricsOf({ values })).toMatchObject({ 'value/explained-variance': 0.5 });
    // A pass that trained nothing has no mean.
    const empty = { passes: [pass(0, 0, { 'clip/low': 0 })], updates: [step(0)], skipped: 0 };
    expect(metricsOf({ policy: empty })).not.toHaveProperty('clip/low');
  });
});

it('coefficients are metrics only where something moves them', () => {
  const fixed = resolveRlOptions({});
  const controlled = resolveRlOptions({ entropyControl: { target: 1 } });
  const at = { kl: 0.5, klForm: 'moving', entropy: 0 } as const;
  expect(coefficientMetrics(at, fixed)).toEqual({ 'kl/coefficient': 0.5 });
  expect(coefficientMetrics({ ...at, kl: 0 }, fixed)).toEqual({});
  expect(coefficientMetrics({ ...at, klForm: 'fixed' }, controlled)).toEqual({ 'entropy/coefficient': 0 });
});
