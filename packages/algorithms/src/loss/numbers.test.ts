import { RandomStream } from '@rlp/core';
import { matrixFromRows, Tape } from '@rlp/tensor';
import { describe, expect, it } from 'vitest';
import { nextEntropyCoefficient, nextKlCoefficient } from './controllers.ts';
import { clipCovarianceKeep, highEntropyKeep, klCovarianceSelection } from './covariance.ts';
import { chosenLogprobs, collisionProbability, entropyOf, fullKl } from './distribution.ts';
import { klPenalizedRewards, overlongMasks } from './reward-shaping.ts';
import { type ValueLossOptions, valueLoss } from './value-loss.ts';

const lists = (rows: readonly ArrayLike<number>[]) => rows.map((row) => Array.from(row));

describe('covariance selection', () => {
  // Means over the four tokens that count: advantages 0, logprobs −2; covariances 2, 0, 0, 2.
  const inputs = {
    logprobs: [
      [-1, -2, -9],
      [-2, -3],
    ],
    advantages: [
      [2, 0, 9],
      [0, -2],
    ],
    masks: [
      [1, 1, 0],
      [1, 1],
    ],
  };

  it('drops a few tokens between the bounds', () => {
    const keep = clipCovarianceKeep(
      { ...inputs, proximalLogprobs: inputs.logprobs },
      RandomStream.named('covariance'),
      { share: 1, low: 1, high: 5 },
    );
    expect(lists(keep)).toEqual([
      [0, 1, 1],
      [1, 0],
    ]);
  });

  it('drops nothing on the bounds or beyond them', () => {
    const kept = (low: number, high: number) => {
      const options = { share: 1, low, high };
      const current = { ...inputs, proximalLogprobs: inputs.logprobs };
      return lists(clipCovarianceKeep(current, RandomStream.named('covariance'), options)).flat();
    };
    expect([kept(1, 2), kept(2, 5), kept(2.5, 5)]).toEqual(Array(3).fill([1, 1, 1, 1, 1]));
  });

  it.each([
    [-3, [1, 1, 1, 1, 0]],
    [-2.7, [1, 1, 1, 1, 1]],
  ])('drops all but what the clip stops, either way: %d', (last, expected) => {
    const proximalLogprobs = [
      [-2, -2, -9],
      [-2, last],
    ];
    const keep = clipCovarianceKeep({ ...inputs, proximalLogprobs }, RandomStream.named('covariance'), {
      share: 1,
    });
    expect(lists(keep).flat()).toEqual(expected);
  });

  it('does not draw tokens that the clip already stops, and never fewer than one', () => {
    const proximalLogprobs = [
      [-2, -2, -9],
      [-2, -3],
    ];
    const keep = clipCovarianceKeep({ ...inputs, proximalLogprobs }, RandomStream.named('covariance'), {
      share: 0,
    });
    expect(lists(keep)).toEqual([
      [1, 1, 1],
      [1, 0],
    ]);
  });

  it('tells tokens of equal advantages apart only with an epsilon in the count, as in verl', () => {
    const logprobs = [[-0.1724809, -0.4599719, 0.01061, -0.0634758, -0.0632146]];
    const [masks, advantages] = [1, 0.75].map((value) => [new Array(5).fill(value)]) as [
      number[][],
      number[][],
    ];
    const equal = { logprobs, proximalLogprobs: logprobs, advantages, masks };
    const kept = (countEpsilon: number) => {
      const options = { share: 1, low: 0, high: 0.05, countEpsilon };
      return lists(clipCovarianceKeep(equal, RandomStream.named('covariance'), options));
    };
    expect(kept(0)).toEqual([[1, 1, 1, 1, 1]]);
    expect(kept(1e-8)).toEqual([[1, 1, 0, 0, 0]]);
  });

  it('selects the largest', () => {
    expect(lists(klCovarianceSelection(inputs, { share: 0.5 }))).toEqual([
      [1, 0, 0],
      [0, 1],
    ]);
  });

  it('breaks ties by order, or as torch does', () => {
    const row = [-1, -2, -3, -4, -5, -6, -7];
    const equal = { logprobs: [row], advantages: [row.map(() => 0)], masks: [row.map(() => 1)] };
    expect(lists(klCovarianceSelection(equal, { share: 0.5 }))).toEqual([[1, 1, 1, 0, 0, 0, 0]]);
    expect(lists(klCovarianceSelection(equal, { share: 0.5, ties: 'torch' }))).toEqual([
      [0, 0, 0, 1, 1, 1, 0],
    ]);
  });

  it('keeps tokens of high entropy, by an interpolated quantile', () => {
    const entropies = [
      [0, 1, 9],
      [2, 3],
    ];
    expect(lists(highEntropyKeep({ entropies, masks: inputs.masks }, { share: 0.5 }))).toEqual([
      [0, 0, 0],
      [1, 1],
    ]);
    expect(lists(highEntropyKeep({ entropies, masks: inputs.masks }, { share: 0.25 })).flat()).toEqual([
      0, 0, 0, 0, 1,
    ]);
    expect(() => highEntropyKeep({ entropies, masks: inputs.masks }, { share: 2 })).toThrow(
      'between 0 and 1, got 2',
    );
  });

  it('gives nothing to do for no tokens, and one error for wrong shapes', () => {
    expect(lists(klCovarianceSelection({ logprobs: [[-1]], advantages: [[1]], masks: [[0]] }))).toEqual([
      [0],
    ]);
    expect(() => klCovarianceSelection({ ...inputs, advantages: [[1]] })).toThrow(
      'advantages must have 2 rows',
    );
  });
});

describe('controllers', () => {
  it('moves the KL coefficient by at most a fifth per horizon', () => {
    expect(nextKlCoefficient(1, { kl: 9, target: 1, horizon: 10, steps: 10 })).toBeCloseTo(1.2, 12);
    expect(nextKlCoefficient(1, { kl: 0, target: 1, horizon: 10 })).toBeCloseTo(0.98, 12);
    expect(nextKlCoefficient(1, { kl: 1, target: 1, horizon: 10 })).toBe(1);
  });

  it('raises the entropy coefficient below its target and keeps it in bounds', () => {
    expect(nextEntropyCoefficient(0, { entropy: 0.1, target: 0.2 })).toBe(0.005);
    expect(nextEntropyCoefficient(0.002, { entropy: 0.3, target: 0.2 })).toBe(0);
    expect(nextEntropyCoefficient(1, { entropy: 0, target: 0.2 })).toBe(1);
    expect(nextEntropyCoefficient(0.01, { entropy: 0.2, target: 0.2 })).toBeCloseTo(0.005, 12);
  });
});

describe('reward shaping', () => {
  it('takes the KL from tokens that count', () => {
    const inputs = { rewards: [[0, 1, 5]], kl: [[0.5, -1, 9]], masks: [[1, 1, 0]] };
    expect(lists(klPenalizedRewards(inputs, { coefficient: 0.1 }))).toEqual([[-0.05, 1.1, 5]]);
    expect(lists(klPenalizedRewards(inputs, { coefficient: -1 }))).toEqual([[0, 1, 5]]);
  });

  it('masks what a limit cut off', () => {
    expect(lists(overlongMasks([[0, 1], [1]], ['truncated', 'completed']))).toEqual([[0, 0], [1]]);
    expect(() => overlongMasks([[1]], [])).toThrow('statuses must have 1 entries');
  });
});

describe('valueLoss', () => {
  const run = (options: ValueLossOptions) => {
    const tape = new Tape();
    const values = tape.variable(matrixFromRows([[1, 3]]));
    const oldValues = tape.data(matrixFromRows([[0, 0]]));
    const returns = tape.data(matrixFromRows([[2, 0]]));
    const { losses, clipped } = valueLoss(tape, { values, oldValues, returns }, options);
    tape.backward(losses, matrixFromRows([[1, 1]]));
    return { losses: [...losses.data], slopes: [...tape.gradient(values).data], clipped: [...clipped.data] };
  };

  it('is half the squared error, and the worse of two where clipped', () => {
    expect(run({})).toEqual({ losses: [0.5, 4.5], slopes: [-1, 3], clipped: [0, 0] });
    expect(run({ clip: 0.5 })).toEqual({ losses: [1.125, 4.5], slopes: [0, 3], clipped: [1, 0] });
    expect(run({ clip: 0.5, clipForm: 'difference' })).toEqual(run({ clip: 0.5 }));
    expect(run({ scale: 1 }).losses).toEqual([1, 9]);
  });

  it('grows linearly beyond the Huber bound', () => {
    expect(run({ huberDelta: 2 })).toEqual({ losses: [0.5, 4], slopes: [-1, 2], clipped: [0, 0] });
  });
});

describe('distributions of logits', () => {
  it('gives logprobs, entropies, KL and collisions, without overflow', () => {
    const tape = new Tape();
    const data = (rows: number[][]) => tape.data(matrixFromRows(rows));
    const logits = data([[1000, 1000 + Math.log(3)]]);
    expect(chosenLogprobs(tape, logits, data([[0, 1]])).data[0]).toBeCloseTo(Math.log(0.75), 9);
    expect(chosenLogprobs(tape, logits, data([[0, 0]])).data[0]).toBe(0);
    const entropy = -(0.25 * Math.log(0.25) + 0.75 * Math.log(0.75));
    expect(entropyOf(tape, logits).data[0]).toBeCloseTo(entropy, 9);
    expect(fullKl(tape, logits, data([[5, 5]])).data[0]).toBeCloseTo(Math.LN2 - entropy, 9);
    expect(collisionProbability(tape, logits).data[0]).toBeCloseTo(0.625, 9);
  });
});
