import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anchorGroups } from './anchor-groups.ts';
import { gigpoAdvantages } from './gigpo.ts';
import { sequenceRatio } from './sequence-ratio.ts';

describe('sequenceRatio', () => {
  // From Python's difflib.
  it.each([
    ['abcd', 'bcde', 0.75],
    ['start over', 'starting over', 0.8695652173913043],
    ['kitchen', 'chicken', 0.5714285714285714],
    ['日本語', '日本', 0.8],
    ['', '', 1],
    ['', 'a', 0],
    [`${'a'.repeat(150)}${'b'.repeat(60)}`, `${'b'.repeat(60)}${'a'.repeat(150)}`, 0],
    ['xyz'.repeat(70), `${'xyz'.repeat(70)}q`, 0.997624703087886],
    [`${'x'.repeat(10)}y`, `y${'x'.repeat(250)}`, 0.007633587786259542],
    // Of the frequent x only those before the block q r belong to it.
    ['xxqrz', `${'x'.repeat(200)}qr`, 0.03864734299516908],
  ])('of %s and %s', (a, b, expected) => {
    expect(sequenceRatio(a, b)).toBeCloseTo(expected, 12);
  });

  it('is 1 of equal short texts and within [0, 1]', () => {
    const text = fc.string({ maxLength: 40 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(sequenceRatio(a, a)).toBe(1);
        expect(sequenceRatio(a, b)).toBeGreaterThanOrEqual(0);
        expect(sequenceRatio(a, b)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('anchorGroups', () => {
  it('joins equal observations of one group, whatever the order of keys', () => {
    const observations = ['x', 'x', { a: 1, b: [2] }, 'x', { b: [2], a: 1 }, { b: 2, a: 1 }];
    expect(anchorGroups(observations, ['g', 'h', 'g', 'g', 'g', 'g'])).toEqual([0, 1, 2, 0, 2, 3]);
  });

  it('tells 1 from true unless hashed as in Python', () => {
    const observations = [1, true, '1', 0, false, null];
    const groups = observations.map(() => 0);
    expect(anchorGroups(observations, groups)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(anchorGroups(observations, groups, { scalars: 'python' })).toEqual([0, 0, 1, 2, 2, 3]);
  });

  it('takes an object for the list of its entries when hashed as in Python', () => {
    const observations = [
      {},
      { b: 2, a: true },
      [
        ['a', 1],
        ['b', 2],
      ],
      [],
    ];
    const groups = observations.map(() => 0);
    expect(anchorGroups(observations, groups)).toEqual([0, 1, 2, 3]);
    expect(anchorGroups(observations, groups, { scalars: 'python' })).toEqual([0, 1, 1, 0]);
  });

  it('joins similar texts to the first one like them', () => {
    const observations = ['You see a red bed.', 'You see a red bed!', 'A lake.'];
    const options = { match: 'similar', threshold: 0.9 } as const;
    expect(anchorGroups(observations, [0, 0, 0], options)).toEqual([0, 0, 1]);
    // Three of four letters agree: 2 · 3 / 8.
    expect(anchorGroups(['abcd', 'abcx'], [0, 0], { match: 'similar', threshold: 0.75 })).toEqual([0, 0]);
    expect(anchorGroups(['abcd', 'abcx'], [0, 0], { match: 'similar', threshold: 0.76 })).toEqual([0, 1]);
    expect(() => anchorGroups([3], [0], options)).toThrow(
      /compares texts, got an observation of type number/,
    );
    expect(() => anchorGroups(['a'], [])).toThrow(/groups must have 1 entries/);
  });
});

describe('gigpoAdvantages', () => {
  // Two trajectories of one task: the first fails in three steps, the second succeeds in two; both begin in state 0.
  const steps = {
    groups: ['g', 'g', 'g', 'g', 'g'],
    trajectories: ['a', 'a', 'a', 'b', 'b'],
    anchors: [0, 1, 0, 0, 2],
    stepRewards: [0, 0, 0, 0, 1],
    episodeScores: [0, 0, 0, 1, 1],
  };

  it('compares trajectories in their group and steps in their state', () => {
    const { advantages, episode, step, stepReturns } = gigpoAdvantages(steps, {
      discount: 0.5,
      scale: 'none',
      weight: 2,
    });
    expect([...stepReturns]).toEqual([0, 0, 0, 0.5, 1]);
    expect([...episode]).toEqual([-0.5, -0.5, -0.5, 0.5, 0.5]);
    expect([...step]).toEqual([-1 / 6, 0, -1 / 6, 1 / 3, 0].map((x) => expect.closeTo(x, 12)));
    expect([...advantages]).toEqual(
      [-0.5 - 1 / 3, -0.5, -0.5 - 1 / 3, 0.5 + 2 / 3, 0.5].map((x) => expect.closeTo(x, 12)),
    );
  });

  it('over step rows lets long trajectories weigh more', () => {
    // Five steps at −0.2133 and one at 0.1662, standardised: from verl-agent's own code.
    const long = {
      groups: Array(6).fill('g'),
      trajectories: [...Array(5).fill('a'), 'b'],
      anchors: [0, 1, 2, 3, 4, 5],
      stepRewards: Array(6).fill(0),
      episodeScores: [...Array(5).fill(-0.2133), 0.1662],
    };
    const rows = gigpoAdvantages(long, { scale: 'std', episodeStatistics: 'step-rows' }).episode;
    expect([rows[0], rows[5]]).toEqual([expect.closeTo(-0.408, 3), expect.closeTo(2.041, 3)]);
    const perTrajectory = gigpoAdvantages(long).episode;
    expect([perTrajectory[0], perTrajectory[5]]).toEqual([
      expect.closeTo(-Math.SQRT1_2, 4),
      expect.closeTo(Math.SQRT1_2, 4),
    ]);
  });

  it('mixes by a share where asked to, and keeps the score of a trajectory alone in its group', () => {
    const alone = { groups: ['g'], trajectories: ['a'], anchors: [0], stepRewards: [3], episodeScores: [3] };
    expect(gigpoAdvantages(alone, { scale: 'none', joint: 'mix', weight: 0.25 }).advantages[0]).toBe(0.75);
    const { advantages, episode, step } = gigpoAdvantages(steps, { joint: 'mix', weight: 0.25 });
    expect(advantages[0]).toBeCloseTo(0.25 * episode[0]! + 0.75 * step[0]!, 12);
  });

  it('keeps trajectories of different groups apart even when their ids repeat', () => {
    const twice = {
      groups: [...steps.groups, ...steps.groups.map(() => 'h')],
      trajectories: [...steps.trajectories, ...steps.trajectories],
      anchors: [...steps.anchors, ...steps.anchors],
      stepRewards: [...steps.stepRewards, ...steps.stepRewards],
      episodeScores: [...steps.episodeScores, ...steps.episodeScores],
    };
    const once = [...gigpoAdvantages(steps).advantages];
    expect([...gigpoAdvantages(twice).advantages]).toEqual([...once, ...once]);
  });

  it('does not depend on the order of groups and is never NaN', () => {
    const step = fc.record({
      group: fc.constantFrom('g', 'h'),
      trajectory: fc.constantFrom('a', 'b', 'c'),
      anchor: fc.integer({ min: 0, max: 2 }),
      reward: fc.constantFrom(-1, 0, 0.5, 10),
    });
    const options = fc.record({
      discount: fc.constantFrom(0, 0.5, 1),
      scale: fc.constantFrom('std' as const, 'none' as const),
      episodeStatistics: fc.constantFrom('per-trajectory' as const, 'step-rows' as const),
    });
    const run = (
      rows: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
      chosen: Parameters<typeof gigpoAdvantages>[1],
    ) =>
      gigpoAdvantages(
        {
          groups: rows.map(({ group }) => group),
          trajectories: rows.map(({ trajectory }) => trajectory),
          anchors: rows.map(({ anchor }) => anchor),
          stepRewards: rows.map(({ reward }) => reward),
          episodeScores: rows.map(({ trajectory }) => (trajectory === 'a' ? 1 : 0)),
        },
        chosen,
      ).advantages;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), options, (rows, chosen) => {
        const advantages = run(rows, chosen);
        expect(advantages.every(Number.isFinite)).toBe(true);
        // Groups one after the other, the second one first; steps keep their order within.
        const inGroup = (group: string) => [...rows.keys()].filter((row) => rows[row]!.group === group);
        const stable = [...inGroup('h'), ...inGroup('g')];
        const sorted = run(
          stable.map((row) => rows[row]!),
          chosen,
        );
        expect(stable.map((row) => advantages[row])).toEqual([...sorted]);
      }),
    );
  });

  it('refuses lists of different lengths and numbers that are not finite', () => {
    expect(() => gigpoAdvantages({ ...steps, anchors: [] })).toThrow(/anchors must have 5 entries/);
    expect(() => gigpoAdvantages({ ...steps, stepRewards: [0, 0, Number.NaN, 0, 0] })).toThrow(
      /stepRewards\[2\] must be a finite number.*got NaN/,
    );
  });
});
