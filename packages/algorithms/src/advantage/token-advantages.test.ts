import { describe, expect, it } from 'vitest';
import { optimalTokenBaseline } from './optimal-token-baseline.ts';
import { reductionFactors, scaledAdvantages } from './reduction-factors.ts';
import { reinforceAdvantages, sequenceScores, spreadOverTokens } from './token-advantages.ts';
import { alignedTurnRewards, tokenRewards } from './token-rewards.ts';

const plain = (rows: readonly Float64Array[]) => rows.map((row) => [...row]);

describe('spreadOverTokens and sequenceScores', () => {
  it('go from one number per row to one per trained token, and back', () => {
    expect(plain(spreadOverTokens([2, -1], [[1, 0, 1], [0]]))).toEqual([[2, 0, 2], [0]]);
    expect([...sequenceScores([[1, 2], [], [-3]])]).toEqual([3, 0, -3]);
    expect(() => spreadOverTokens([1], [[1], [1]])).toThrow(/advantages must have 2 numbers/);
  });
});

describe('reinforceAdvantages', () => {
  const inputs = { rewards: [[0, 1, 5, 2]], masks: [[1, 1, 0, 1]] };

  it('subtracts the baseline from the returns of trained tokens', () => {
    const { advantages, returns } = reinforceAdvantages({ ...inputs, baselines: [2] });
    expect(plain(returns)).toEqual([[3, 3, 0, 2]]);
    expect(plain(advantages)).toEqual([[1, 1, 0, 0]]);
    expect(plain(reinforceAdvantages(inputs).advantages)).toEqual([[3, 3, 0, 2]]);
  });

  it('refuses baselines that are not one finite number per row', () => {
    expect(() => reinforceAdvantages({ ...inputs, baselines: [] })).toThrow(/baselines must have 1/);
    expect(() => reinforceAdvantages({ ...inputs, baselines: [Number.NaN] })).toThrow(/baselines\[0\].*NaN/);
  });
});

describe('optimalTokenBaseline', () => {
  const inputs = {
    rewards: [
      [1, 0, 2],
      [0, 1],
    ],
    masks: [
      [1, 1, 1],
      [1, 1],
    ],
    groups: ['a', 'a'],
    logprobs: [
      [0.5, 0.25, 0.8],
      [0.9, 0.1],
    ].map((row) => row.map(Math.log)),
    squaredProbabilitySums: [
      [0.4, 0.2, 0.7],
      [0.85, 0.3],
    ],
  };

  it('weighs returns by the gradient so far', () => {
    // Baselines 25/9 and 67/45 by a program of its own; the third token has nothing to be compared with.
    const { advantages, returns } = optimalTokenBaseline(inputs, { epsilon: 1e-12 });
    expect(plain(returns)).toEqual([
      [3, 2, 2],
      [1, 1],
    ]);
    expect(plain(advantages)[0]).toEqual([3 - 25 / 9, 2 - 67 / 45, 2].map((x) => expect.closeTo(x, 9)));
    expect(plain(advantages)[1]).toEqual([1 - 25 / 9, 1 - 67 / 45].map((x) => expect.closeTo(x, 9)));
  });

  it('weighs by the squared importance weight, and takes no probability for more than 1', () => {
    const single = {
      rewards: [[3], [1]],
      masks: [[1], [1]],
      groups: ['a', 'a'],
      logprobs: [[Math.log(0.5)], [Math.log(0.9)]],
      squaredProbabilitySums: [[0.4], [0.85]],
    };
    // Weights 0.4 · 2² and 0.05.
    const baseline = (1.6 * 3 + 0.05) / 1.65;
    const weighted = optimalTokenBaseline({ ...single, importanceWeights: [[2], [1]] }, { epsilon: 1e-12 });
    expect(plain(weighted.advantages).flat()).toEqual(
      [3 - baseline, 1 - baseline].map((x) => expect.closeTo(x, 9)),
    );
    // Rounding may give a logprob above 0. Then 1 − 2 + 1 is no weight at all.
    const rounded = { ...single, logprobs: [[0.5], [Math.log(0.5)]], squaredProbabilitySums: [[1], [0.5]] };
    expect(plain(optimalTokenBaseline(rounded, { epsilon: 1e-12 }).advantages).flat()).toEqual(
      [2, 0].map((x) => expect.closeTo(x, 9)),
    );
  });

  it('can take the lone tail as its own baseline, and leaves a group of one its return', () => {
    expect(optimalTokenBaseline(inputs, { longestTail: 'baseline' }).advantages[0]![2]).toBeCloseTo(0, 6);
    const alone = optimalTokenBaseline({ ...inputs, groups: ['a', 'b'] });
    expect(plain(alone.advantages)).toEqual([
      [3, 2, 2],
      [1, 1],
    ]);
  });

  it('compares tokens by how many were trained before them: gaps change nothing', () => {
    const gapped = <T>([first, second]: T[][], filler: T) => [
      [first![0]!, filler, ...first!.slice(1)],
      second!,
    ];
    const { advantages } = optimalTokenBaseline({
      rewards: gapped(inputs.rewards, 0),
      masks: gapped(inputs.masks, 0),
      groups: inputs.groups,
      logprobs: gapped(inputs.logprobs, -3),
      squaredProbabilitySums: gapped(inputs.squaredProbabilitySums, 0.5),
    });
    const [first, second] = plain(optimalTokenBaseline(inputs).advantages);
    expect(plain(advantages)).toEqual([[first![0], 0, ...first!.slice(1)], second]);
  });

  it('compares tokens of one column if asked to, however many were trained before them', () => {
    const row = [-1, -1, -1];
    const gapped = {
      ...{
        rewards: [
          [0, 0, 3],
          [0, 1],
        ],
        masks: [
          [1, 0, 1],
          [1, 1],
        ],
        groups: ['a', 'a'],
      },
      ...{
        logprobs: [row, row.slice(1)],
        squaredProbabilitySums: [
          [0.5, 0.5, 0.5],
          [0.5, 0.5],
        ],
      },
    };
    const last = (positions: 'column' | 'trained-token') => {
      const [first, second] = optimalTokenBaseline(gapped, { positions, epsilon: 1e-12 }).advantages;
      return [first![2], second![1]].map((x) => expect.closeTo(x!, 9));
    };
    // Alone in their columns, both are their own baseline. Second trained tokens of equal weights have the mean of 3 and 1.
    expect([0, 0]).toEqual(last('column'));
    expect([1, -1]).toEqual(last('trained-token'));
  });

  it('refuses groups that are not one per row', () => {
    expect(() => optimalTokenBaseline({ ...inputs, groups: [] })).toThrow(/groups must have 2 entries/);
  });
});

describe('tokenRewards', () => {
  it('puts the score on the last trained token or where told', () => {
    const masks = [[1, 1, 0], [1], [0, 0]];
    expect(plain(tokenRewards({ scores: [5, 7, 9], masks }))).toEqual([[0, 5, 0], [7], [0, 0]]);
    const rewards = tokenRewards({ scores: [5], masks: [[1, 1, 0]], positions: [2] });
    expect(plain(rewards)).toEqual([[0, 0, 5]]);
    expect(() => tokenRewards({ scores: [5], masks: [[1]], positions: [1] })).toThrow(/positions\[0\]/);
    expect(() => tokenRewards({ scores: [], masks: [[1]] })).toThrow(/^tokenRewards: scores/);
    expect(() => tokenRewards({ scores: [Number.NaN], masks: [[1]] })).toThrow(/^tokenRewards: scores/);
    const positions = [Number.NaN];
    expect(() => tokenRewards({ scores: [5], masks: [[1]], positions })).toThrow(/^tokenRewards: positions/);
    expect(() => tokenRewards({ scores: [5], masks: [[Number.NaN]] })).toThrow(/^tokenRewards: masks/);
  });
});

describe('alignedTurnRewards', () => {
  it('gives each turn the last reward for it, or null', () => {
    const rewards = [
      { turn: 'a', reward: 1 },
      { turn: 'x', reward: 9 },
      { turn: 'a', reward: 2 },
    ];
    expect(alignedTurnRewards(['a', 'b', null], rewards)).toEqual([2, null, null]);
  });
});

describe('reductionFactors', () => {
  const masks = [
    [1, 1, 0],
    [1, 1, 1],
    [0, 0, 0],
  ];

  it.each([
    ['token mean', [0, 0, 0], [1 / 5, 1 / 5, 1 / 5]],
    ['sequence mean', [0, 1, 2], [1 / 6, 1 / 9, 1 / 3]],
    ['prompt mean', ['p', 'q', 'q'], [1 / 4, 1 / 6, 1 / 6]],
  ] as const)('make a masked sum the %s', (_, parts, expected) => {
    expect([...reductionFactors(masks, parts)]).toEqual(expected.map((x) => expect.closeTo(x, 12)));
  });

  it('take a given length instead of counting, and scale advantages', () => {
    const factors = reductionFactors(masks, [0, 1, 2], { length: 4 });
    expect([...factors]).toEqual([1 / 12, 1 / 12, 1 / 12]);
    expect(plain(scaledAdvantages([[12, 24], [36], [0]], factors))).toEqual([[1, 2], [3], [0]]);
  });

  it('refuse parts and factors that are not one per row', () => {
    expect(() => reductionFactors(masks, [0])).toThrow(/parts must have 3 entries/);
    expect(() => scaledAdvantages(masks, [1])).toThrow(/factors must have 3 numbers/);
  });
});
