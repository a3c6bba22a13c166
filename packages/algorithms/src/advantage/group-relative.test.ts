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

/** Rewards of a group in tenths, not all equal. */
const group = fc
  .array(fc.integer({ min: -50, max: 50 }), { minLength: 1, maxLength: 7 })
  .map((tenths) => [...tenths.map((reward) => reward / 10), tenths[0]! / 10 + 1]);

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

  it("divides by the deviation of the batch's advantages where asked to", () => {
    // Leave-one-out differences −2, 2 and −3, 3: unbiased variance 26 / 3. The last two groups have nothing to compare.
    const options = { baseline: 'leave-one-out', scale: 'advantage-std', epsilon: 0 } as const;
    const unit = Math.sqrt(26 / 3);
    expect(groupRelativeAdvantages([[0, 2], [1, 4, null], [7], [null]], options)).toEqual([
      [expect.closeTo(-2 / unit, 12), expect.closeTo(2 / unit, 12)],
      [expect.closeTo(-3 / unit, 12), expect.closeTo(3 / unit, 12), 0],
      [0],
      [0],
    ]);
    expect(groupRelativeAdvantages([[1, 1]], options)).toEqual([[0, 0]]);
    // Without a baseline a member alone counts: 1 and 3 deviate by √2.
    expect(groupRelativeAdvantages([[1], [3]], { ...options, baseline: 'none' })).toEqual([
      [expect.closeTo(1 / Math.SQRT2, 12)],
      [expect.closeTo(3 / Math.SQRT2, 12)],
    ]);
  });

  it('sums to zero over each group, and does not change when rewards are shifted', () => {
    fc.assert(
      fc.property(group, fc.integer({ min: -8, max: 8 }), (rewards, shift) => {
        const [advantages] = groupRelativeAdvantages([rewards]);
        const [shifted] = groupRelativeAdvantages([rewards.map((reward) => reward + shift)]);
        expect(advantages!.reduce((sum, x) => sum + x, 0)).toBeCloseTo(0, 9);
        expect(shifted).toEqual(advantages!.map((x) => expect.closeTo(x, 6)));
      }),
    );
  });

  it('subtracts the mean of the others, of which the centred reward is (G − 1) / G', () => {
    fc.assert(
      fc.property(group, (rewards) => {
        const [others] = groupRelativeAdvantages([rewards], { baseline: 'leave-one-out', scale: 'none' });
        const [all] = groupRelativeAdvantages([rewards], { scale: 'none' });
        const factor = rewards.length / (rewards.length - 1);
        expect(others).toEqual(all!.map((x) => expect.closeTo(x * factor, 9)));
      }),
    );
  });

  it('does not depend on the order of groups or of their members, nor on the scale of rewards', () => {
    const baseline = fc.constantFrom('mean' as const, 'leave-one-out' as const);
    fc.assert(
      fc.property(
        group,
        group,
        baseline,
        fc.double({ min: 0.1, max: 9, noNaN: true }),
        (a, b, kind, factor) => {
          const options: GroupRelativeOptions = { baseline: kind, epsilon: 0 };
          const [first, second] = groupRelativeAdvantages([a, b], options);
          const scaled = b.map((reward) => reward * factor).reverse();
          const [again, other] = groupRelativeAdvantages([scaled, a], options);
          expect(other).toEqual(first);
          expect(again!.reverse()).toEqual(second!.map((x) => expect.closeTo(x, 6)));
        },
      ),
    );
  });

  it('weighs the baseline by lengths, and without any length does not', () => {
    const options: GroupRelativeOptions = { baseline: 'length-weighted-mean', scale: 'none' };
    expect(groupRelativeAdvantages([[4, 1]], options, { lengths: [[1, 2]] })).toEqual([[2, -1]]);
    expect(groupRelativeAdvantages([[4, 1]], options, { lengths: [[0, 0]] })).toEqual([[1.5, -1.5]]);
    expect(() => groupRelativeAdvantages([[4, 1]], options)).toThrow(
      /lengths\[0\] must have 2 token counts.*none/,
    );
  });

  it('gives the best member its lead over the second', () => {
    const options: GroupRelativeOptions = { baseline: 'second-best', scale: 'none' };
    expect(groupRelativeAdvantages([[1, null, 4, 2]], options)).toEqual([[0, 0, 2, 0]]);
    expect(groupRelativeAdvantages([[4, 4, 1]], options)).toEqual([[0, 0, 0]]);
  });

  it('divides by the mean reward, and not by one that is not positive', () => {
    const [easy, failed, negative] = groupRelativeAdvantages(
      [
        [0, 1, 1, 1],
        [0, 0],
        [-1, -3],
      ],
      { scale: 'group-mean', epsilon: 0 },
    );
    expect(easy).toEqual([-1, 1 / 3, 1 / 3, 1 / 3].map((x) => expect.closeTo(x, 12)));
    expect([...failed!, ...negative!]).toEqual([0, 0, 0, 0]);
    const divided = groupRelativeAdvantages([[-1, -3]], {
      scale: 'group-mean',
      epsilon: 0,
      smallMean: 'divide',
    });
    expect(divided).toEqual([[-0.5, 0.5]]);
  });

  it('divides by the share of rewards that are not 0', () => {
    expect(
      groupRelativeAdvantages(
        [
          [1, 0],
          [0, 0],
        ],
        { scale: 'nonzero-share' },
      ),
    ).toEqual([
      [2, -2],
      [0, 0],
    ]);
  });

  it('without baseline and scale leaves rewards as they are', () => {
    expect(
      groupRelativeAdvantages(
        [
          [3, null],
          [2, 2],
        ],
        { baseline: 'none', scale: 'none' },
      ),
    ).toEqual([
      [3, 0],
      [2, 2],
    ]);
  });

  it('is never NaN, whatever the options', () => {
    const rewards = fc.array(fc.option(fc.constantFrom(0, 1, -1, 0.5, 1e-9, 1e9)), { maxLength: 5 });
    const options = fc.record({
      baseline: fc.constantFrom(
        'mean' as const,
        'leave-one-out' as const,
        'second-best' as const,
        'none' as const,
      ),
      scale: fc.constantFrom(
        'group-std' as const,
        'batch-std' as const,
        'advantage-std' as const,
        'group-mean' as const,
        'nonzero-share' as const,
        'none' as const,
      ),
      std: fc.constantFrom('unbiased' as const, 'population' as const),
      epsilon: fc.constantFrom(0, 1e-6, 1),
      epsilonPlacement: fc.constantFrom('added' as const, 'variance-floor' as const, 'threshold' as const),
      singleMember: fc.constantFrom('zero' as const, 'raw' as const),
      smallMean: fc.constantFrom('zero' as const, 'divide' as const),
    });
    fc.assert(
      fc.property(fc.array(rewards, { maxLength: 4 }), options, (groups, chosen) => {
        expect(groupRelativeAdvantages(groups, chosen).flat().every(Number.isFinite)).toBe(true);
      }),
    );
  });

  it.each(['group-std', 'batch-std', 'advantage-std'] as const)(
    'is 0 by scale %s if raw rewards do not vary and nothing is added to the divisor',
    (scale) => {
      const options = { baseline: 'none', scale, epsilon: 0 } as const;
      expect(groupRelativeAdvantages([[1e-9, 1e-9]], options)).toEqual([[0, 0]]);
    },
  );

  it('names rewards that are not finite', () => {
    expect(() => groupRelativeAdvantages([[1], [0, Number.NaN]])).toThrow(
      /groups\[1\]\[1\] must be a finite number \(at most 1e100 in size\), or null if unscorable, got NaN/,
    );
  });

  it('names every wrong option', () => {
    expect(() => groupRelativeAdvantages([], { epsilon: -1, std: 'biased' as never })).toThrow(
      /std[\s\S]*epsilon/,
    );
  });
});
