import { matrixFromRows, matrixRows, Tape } from '@rlp/tensor';
import { describe, expect, it } from 'vitest';
import {
  type AcceptanceCriterion,
  acceptanceMask,
  offPolicySequenceMask,
  type SamplerWeightOptions,
  samplerWeights,
} from './sampler-correction.ts';

const ln2 = Math.log(2);
/** Log-ratios of three sequences; the last token of the first and all of the third do not count. */
const gaps = [
  [ln2, ln2, 50],
  [-ln2, 0, 0],
  [9, 9, 9],
];
const masks = [
  [1, 1, 0],
  [1, 1, 1],
  [0, 0, 0],
];

function inputs(tape: Tape) {
  const data = (rows: number[][]) => tape.data(matrixFromRows(rows));
  return { proximalLogprobs: data(gaps), behaviorLogprobs: tape.constant(0), mask: data(masks) };
}

const weights = (options: SamplerWeightOptions) => {
  const tape = new Tape();
  return matrixRows(samplerWeights(tape, inputs(tape), options)).map((row) =>
    [...row].map((x) => expect.closeTo(x, 12)),
  );
};

const accepted = (...criteria: AcceptanceCriterion[]) => {
  const tape = new Tape();
  return matrixRows(acceptanceMask(tape, inputs(tape), criteria)).map((row) => [...row]);
};

describe('samplerWeights', () => {
  it('takes the ratio of tokens, of sequences, or the geometric mean', () => {
    expect([
      [2, 2, 1],
      [0.5, 1, 1],
      [1, 1, 1],
    ]).toEqual(weights({ level: 'token', outside: 'clamp' }));
    expect([[4], [0.5], [1]]).toEqual(weights({ level: 'sequence', outside: 'clamp' }));
    expect([[2], [2 ** (-1 / 3)], [1]]).toEqual(weights({ level: 'geometric', outside: 'clamp' }));
  });

  it('truncates or rejects what is out of bounds', () => {
    const bounds = { low: 0.75, high: 3 };
    expect([[3], [0.75], [1]]).toEqual(weights({ level: 'sequence', outside: 'clamp', ...bounds }));
    expect([[0], [0], [1]]).toEqual(weights({ level: 'sequence', outside: 'zero', ...bounds }));
    expect([[4], [0], [1]]).toEqual(weights({ level: 'sequence', outside: 'zero', low: 0.75 }));
  });
});

/** Three tokens of one sequence, whose log-ratios are far. */
function far(tape: Tape) {
  const row = (values: number[]) => matrixFromRows([values]);
  return {
    proximalLogprobs: tape.variable(row([30, -10, 0.5])),
    behaviorLogprobs: tape.data(row([0, 0, 0])),
    mask: tape.data(row([1, 1, 1])),
  };
}

describe('a log-ratio that is far', () => {
  it('is limited to 20 in weights, or to what is asked for', () => {
    const weightOf = (options: Partial<SamplerWeightOptions>) => {
      const tape = new Tape();
      return [...samplerWeights(tape, far(tape), { level: 'token', outside: 'clamp', ...options }).data];
    };
    expect(weightOf({}).map(Math.log)).toEqual([20, -10, 0.5].map((x) => expect.closeTo(x, 9)));
    expect(weightOf({ logRatioLimit: 2 }).map(Math.log)).toEqual(
      [2, -2, 0.5].map((x) => expect.closeTo(x, 9)),
    );
  });

  it('is limited to 20 in what decides about tokens', () => {
    const decide = (criterion: AcceptanceCriterion) => {
      const tape = new Tape();
      return [...acceptanceMask(tape, far(tape), [criterion]).data];
    };
    // −20 + 10 − 0.5, where −30 + 10 − 0.5 would be below the bound.
    expect(decide({ statistic: 'k1', over: 'sequence-sum', low: -11 })).toEqual([1, 1, 1]);
    expect(decide({ statistic: 'k1', over: 'sequence-sum', low: -10 })).toEqual([0, 0, 0]);
  });

  it.each(['clamp', 'zero'] as const)('has no gradient through its weight (%s)', (outside) => {
    const tape = new Tape();
    const inputs = far(tape);
    const weights = samplerWeights(tape, inputs, { level: 'token', outside, low: 0, high: 2 });
    tape.backward(weights, matrixFromRows([[1, 1, 1]]));
    expect([...tape.gradient(inputs.proximalLogprobs).data]).toEqual([0, 0, 0]);
  });
});

describe('acceptanceMask', () => {
  it('judges tokens, sums, means and every token', () => {
    expect(accepted({ statistic: 'k1', over: 'token', low: -0.1 })).toEqual([
      [0, 0, 0],
      [1, 1, 1],
      [0, 0, 0],
    ]);
    expect(accepted({ statistic: 'k1', over: 'every-token', high: 0.1 })).toEqual([
      [1, 1, 0],
      [0, 0, 0],
      [0, 0, 0],
    ]);
    expect(accepted({ statistic: 'k2', over: 'sequence-sum', high: 0.3 })).toEqual([
      [0, 0, 0],
      [1, 1, 1],
      [0, 0, 0],
    ]);
    expect(accepted({ statistic: 'k2', over: 'sequence-mean', high: 0.3 })).toEqual([
      [1, 1, 0],
      [1, 1, 1],
      [0, 0, 0],
    ]);
  });

  it.each([
    ['k1', -Math.log(2)],
    ['k2', Math.log(2) ** 2 / 2],
    ['k3', 1 - Math.log(2)],
    ['tv', 1],
  ] as const)('measures %s of a ratio of 2, both bounds included', (statistic, value) => {
    const tape = new Tape();
    const one = (x: number) => tape.data(matrixFromRows([[x]]));
    const inputs = { proximalLogprobs: one(ln2), behaviorLogprobs: one(0), mask: one(1) };
    const kept = (low: number, high: number) =>
      acceptanceMask(tape, inputs, [{ statistic, over: 'token', low, high }]).data[0];
    expect(kept(value - 1e-9, value + 1e-9)).toBe(1);
    expect(kept(value + 1e-9, 9)).toBe(0);
    expect(kept(-9, value - 1e-9)).toBe(0);
  });

  it('asks for every criterion', () => {
    const token = { statistic: 'k1', over: 'token', low: -0.1 } as const;
    const sequence = { statistic: 'tv', over: 'every-token', high: 0.4 } as const;
    expect(accepted(token, sequence).flat()).toEqual(new Array(9).fill(0));
    expect(accepted(token, { ...sequence, high: 0.6 })[1]).toEqual([1, 1, 1]);
  });
});

describe('offPolicySequenceMask', () => {
  it('drops bad tokens of sequences that the policy has left', () => {
    const tape = new Tape();
    const data = (rows: number[][]) => tape.data(matrixFromRows(rows));
    const mask = offPolicySequenceMask(
      tape,
      {
        logprobs: data([
          [-2, -2],
          [-1, -1],
        ]),
        behaviorLogprobs: data([
          [-1, -1.8],
          [-1, -1],
        ]),
        advantages: data([
          [-1, 1],
          [-1, -1],
        ]),
        mask: data([
          [1, 1],
          [1, 1],
        ]),
      },
      { threshold: 0.5 },
    );
    expect([...mask.data]).toEqual([0, 1, 1, 1]);
  });
});
