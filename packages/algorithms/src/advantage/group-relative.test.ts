import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GroupRelativeOptions, groupRelativeAdvantages, hasRewardVariance } from './group-relative.ts';

/** First advantage of the rewards [1, 0, 0, 1, 1] in the projects named, from their own code. */
const golden: readonly (readonly [string, GroupRelativeOptions, number])[] = [
  ['verl', { singleMember: 'raw' }, 0.730295],
  ['TRL', { epsilon: 1e-4 }, 0.730163],
  ['OpenRLHF', { epsilon: 1e-9 }, 0.730297],
  ['ART', { std: 'population' }, 0.816495],
  ['Dr. GRPO', { scale: 'none' }, 0.4],
];

describe('groupRelativeAdvantages', () => {
  it.each(golden)('gives the number of %s', (_, options, expected) => {
    expect(groupRelativeAdvantages([[1, 0, 0, 1, 1]], options)[0]![0]).toBeCloseTo(expected, 6);
  });

  it('places epsilon as told where rewards nearly agree', () => {
    const first = (options: GroupRelativeOptions) => groupRelativeAdvantages([[1, 1.0001]], options)[0]![0];
    expect(first({ epsilonPlacement: 'added' })).toBeCloseTo(-0.6972, 4);
    expect(first({ epsilonPlacement: 'variance-floor' })).toBeCloseTo(-0.04995, 5);
    expect(first({ epsilonPlacement: 'threshold' })).toBeCloseTo(-Math.SQRT1_2, 6);
    expect(first({ epsilonPlacement: 'threshold', epsilon: 1 })).toBeCloseTo(-0.00005, 12);
  });

  it('leaves null rewards out of mean and deviation', () => {
    const [[first, missing, ...others]] = groupRelativeAdvantages([[3, null, 1, 2]], { epsilon: 0 }) as [
      number[],
    ];
    expect([first, missing, ...others]).toEqual([1, 0, -1, 0]);
  });

  it.each([[[]], [[null, null]], [[0.7]], [[null, 2]], [[0.1, 0.1, 0.1]]])(
    'gives zeros for %j',
    (rewards) => {
      expect(groupRelativeAdvantages([rewards])).toEqual([rewards.map(() => 0)]);
      expect(hasRewardVariance(rewards)).toBe(false);
    },
  );

  it('keeps the raw reward of a single member where asked to', () => {
    expect(groupRelativeAdvantages([[0.7]], { singleMember: 'raw' })[0]![0]).toBeCloseTo(
      0.7 / (1 + 1e-6),
      12,
    );
  });

  it('divides by the deviation of the whole batch where asked to', () => {
    // Rewards 0, 2, 5, 5: mean 3, unbiased variance (9 + 1 + 4 + 4) / 3 = 6.
    const advantages = groupRelativeAdvantages(
      [
        [0, 2],
        [5, 5],
      ],
      { scale: 'batch-std', epsilon: 0 },
    );
    expect(advantages).toEqual([
      [expect.closeTo(-1 / Math.sqrt(6), 12), expect.closeTo(1 / Math.sqrt(6), 12)],
      [0, 0],
    ]);
  });

  it('sums to zero over each group, and does not change when rewards are shifted', () => {
    const rewards = fc.array(fc.double({ min: -5, max: 5, noNaN: true }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(rewards, fc.integer({ min: -8, max: 8 }), (group, shift) => {
        fc.pre(Math.max(...group) - Math.min(...group) > 1e-3);
        const [advantages] = groupRelativeAdvantages([group]);
        const [shifted] = groupRelativeAdvantages([group.map((reward) => reward + shift)]);
        expect(advantages!.reduce((sum, x) => sum + x, 0)).toBeCloseTo(0, 9);
        expect(shifted).toEqual(advantages!.map((x) => expect.closeTo(x, 6)));
      }),
    );
  });

  it('names every wrong option', () => {
    expect(() => groupRelativeAdvantages([], { epsilon: -1, std: 'biased' as never })).toThrow(
      /std[\s\S]*epsilon/,
    );
  });
});
